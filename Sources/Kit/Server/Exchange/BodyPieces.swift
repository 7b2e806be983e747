import NIOCore
import Synchronization

/// Decides in which pieces the body of a request is received.
///
/// Each piece is handed from the event loop to the task that takes it, and on from there, which costs as much for a
/// small one. But pieces that the task has not taken wait in memory, so only so many connections receive large ones at
/// a time
/// (``LargeBodySlots``), and only as long as the rest of the body is larger than one: requests that a client pipelines
/// behind it are never read in a large piece. The rest of a chunked body is not known.
struct BodyPieces {
    /// Most bytes in a piece.
    static let largest = 256 << 10

    private let places: LargeBodySlots?
    /// Bytes of the body that are still to come; nil before its first piece.
    private var remaining: Int?
    /// Whether the next piece may be a large one.
    private(set) var areLarge = false

    /// - Parameter places: nil if no piece may be a large one
    init(_ places: LargeBodySlots?) { self.places = places }

    /// Notes a piece.
    /// - Parameter length: the length of the whole body, if it is known; read at its first piece
    /// - Returns: whether ``areLarge`` has changed
    mutating func received(bytes: Int, of length: @autoclosure () -> Int?) -> Bool {
        let rest = (remaining ?? length() ?? 0) - bytes
        remaining = rest
        return change(to: rest >= Self.largest)
    }

    /// Notes the end of the body, or of its connection.
    /// - Returns: whether ``areLarge`` has changed
    mutating func ended() -> Bool {
        remaining = nil
        return change(to: false)
    }

    private mutating func change(to large: Bool) -> Bool {
        guard large != areLarge, let places else { return false }
        if !large { places.release() } else if !places.take() { return false }
        areLarge = large
        return true
    }
}

/// How many connections of a server may receive large pieces at a time.
final class LargeBodySlots: Sendable {
    private let free: Atomic<Int>

    init(_ count: Int = 16) { free = Atomic(count) }

    /// Takes a place, if there is one.
    func take() -> Bool {
        if free.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return true }
        release()
        return false
    }

    func release() { free.wrappingAdd(1, ordering: .relaxed) }
}

/// Allocates the memory of large pieces, as much as the client fills.
struct LargePieceAllocator: RecvByteBufferAllocator {
    private var sizes = AdaptiveRecvByteBufferAllocator(
        minimum: 64,
        initial: 64 << 10,
        maximum: BodyPieces.largest
    )

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { sizes.buffer(allocator: allocator) }

    /// Returns true always, and there is no next size: NIO then keeps none of this memory for the next read, which
    /// would stay with the connection after the body.
    mutating func record(actualReadBytes: Int) -> Bool {
        _ = sizes.record(actualReadBytes: actualReadBytes)
        return true
    }
}
