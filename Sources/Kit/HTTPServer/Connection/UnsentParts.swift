import NIOCore
import NIOHTTP1

/// The rest of a response, which waits here as one buffer until the client takes it: behind this, large bodies would be
/// copied and encrypted as a whole, and frames made of them.
struct UnsentParts {
    /// Largest part of a body that is passed on at once, in bytes.
    static let piece = 64 << 10

    private var parts: [(part: HTTPServerResponsePart, promise: EventLoopPromise<Void>?)] = []
    /// Bytes of bodies.
    private(set) var bytes = 0

    var isEmpty: Bool { parts.isEmpty }

    /// Whether a part is not passed on at once.
    static func isLarge(_ part: HTTPServerResponsePart) -> Bool { size(part) > piece }

    private static func size(_ part: HTTPServerResponsePart) -> Int {
        if case .body(let body) = part { body.readableBytes } else { 0 }
    }

    /// Adds a part behind those that wait.
    ///
    /// - Returns: Its bytes.
    mutating func append(_ part: HTTPServerResponsePart, _ promise: EventLoopPromise<Void>?) -> Int {
        parts.append((part, promise))
        bytes += Self.size(part)
        return Self.size(part)
    }

    /// Removes the next part, or a piece of it.
    mutating func popFirst() -> (part: HTTPServerResponsePart, promise: EventLoopPromise<Void>?, bytes: Int)? {
        guard let first = parts.first else { return nil }
        if Self.isLarge(first.part), case .body(.byteBuffer(var rest)) = first.part,
            let piece = rest.readSlice(length: Self.piece)
        {
            parts[0].part = .body(.byteBuffer(rest))
            bytes -= Self.piece
            return (.body(.byteBuffer(piece)), nil, Self.piece)
        }
        parts.removeFirst()
        bytes -= Self.size(first.part)
        return (first.part, first.promise, Self.size(first.part))
    }

    /// Forgets what waits: the channel is closed.
    mutating func removeAll() {
        for part in parts { part.promise?.fail(ChannelError.ioOnClosedChannel) }
        parts = []
        bytes = 0
    }
}
