import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// Tells that the application reads the body of the running request, which a client may hold back until `100 Continue`
/// (RFC 9110 §10.1.1).
struct BodyDemand: Sendable {}

/// Lets a request's body be read until its response has ended, and no longer.
///
/// After a response Hummingbird reads the rest of the body itself. Another task may still be reading it: an upload to
/// an upstream that has responded before it had taken everything waits for the next part. NIO's sequence ends the
/// process if there are two readers.
final class ExclusiveBodyReader: @unchecked Sendable {
    private struct State {
        var isReading = false
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    /// Used by the task that has set `isReading`.
    private var iterator: RequestBody.AsyncIterator
    /// Notifies the connection, once, that the body is wanted; nil if its client does not wait for that.
    private var demand: (() -> Void)?

    init(_ body: RequestBody, demand: (() -> Void)? = nil) {
        iterator = body.makeAsyncIterator()
        self.demand = demand
    }

    /// Wraps a responder: once it returns, no task reads the body of its request.
    static func guarding(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
        { request, writer, channel in
            // Without a body there is nothing to wait for.
            guard
                request.headers.contains(.transferEncoding)
                    || request.headers[.contentLength].map({ $0 != "0" }) ?? false
            else {
                return try await responder(request, writer, channel)
            }
            let expectsContinue = request.headers.contains(.expect)
            let gate = ExclusiveBodyReader(
                request.body,
                demand: expectsContinue ? { channel.triggerUserOutboundEvent(BodyDemand(), promise: nil) } : nil
            )
            var request = request
            request.body = RequestBody(asyncSequence: Parts(gate: gate))
            do {
                try await responder(request, writer, channel)
            } catch {
                await gate.close()
                throw error
            }
            await gate.close()
        }
    }

    /// Returns the next part of the body.
    /// - Throws: `CancellationError` if the response has ended or another task is reading.
    fileprivate func next() async throws -> ByteBuffer? {
        let mayRead = state.withLock { state in
            if state.isClosed || state.isReading { return false }
            state.isReading = true
            return true
        }
        guard mayRead else { throw CancellationError() }
        defer {
            let waiting = state.withLock { state in
                state.isReading = false
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume()
        }
        demand?()
        demand = nil
        return try await iterator.next()
    }

    /// Ends reading. A task that is reading has until the client has sent its next part or the connection has ended,
    /// which its deadlines bound.
    private func close() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                state.isClosed = true
                if state.isReading { state.waiting = continuation }
                return !state.isReading
            }
            if isFree { continuation.resume() }
        }
    }

    /// The body as its reader sees it.
    private struct Parts: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            let gate: ExclusiveBodyReader

            mutating func next() async throws -> ByteBuffer? { try await gate.next() }
        }

        let gate: ExclusiveBodyReader

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(gate: gate) }
    }
}

/// Thrown to the reader of a request body that will never be complete. Without it a truncated upload would look like a
/// whole one.
package enum RequestBodyError: Error, Equatable {
    /// The client closed the connection within the body.
    case truncated
    /// ``ConnectionLimits/bodyDeadline`` or `ConnectionLimits.bodyIdle` has passed.
    case timedOut
    /// The framing of the body is broken.
    case malformed
}

/// Decides in which pieces the body of a request is received.
///
/// Each piece is handed from the event loop to the task that takes it, and on from there, which costs as much for a
/// small one. But pieces that the task has not taken wait in memory, so only so many connections receive large ones at
/// a time (``LargeBodySlots``). A piece is large only while the rest of the body is larger: requests that a client
/// pipelines after the body are never read in a large piece. The rest of a chunked body is not known.
struct BodyPieces {
    /// Most bytes in a piece.
    static let largest = 256 << 10

    private let places: LargeBodySlots?
    /// Bytes of the body that are still expected; nil before its first piece.
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
