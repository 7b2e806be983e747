import NIOCore
import NIOHTTP2

/// The streams of a connection, and when it ends. It has no channel and no clock.
struct HTTP2ConnectionState {
    private let idleTime: TimeAmount
    private var streams: Set<HTTP2StreamID> = []
    private var idleSince: NIODeadline
    /// The last stream that the client has opened.
    private(set) var lastStream = HTTP2StreamID.rootStream
    /// Whether the client was told to open no further streams.
    private(set) var isEnding = false

    init(_ limits: ConnectionLimits, now: NIODeadline) {
        idleTime = TimeAmount(limits.idleTimeout)
        idleSince = now
    }

    /// When the connection ends unless a stream is opened; nil while one is open.
    var idleDeadline: NIODeadline? { streams.isEmpty && !isEnding ? idleSince + idleTime : nil }

    /// The client has opened a stream.
    mutating func opened(_ stream: HTTP2StreamID) {
        streams.insert(stream)
        lastStream = max(lastStream, stream)
    }

    /// A stream has ended.
    ///
    /// - Returns: Whether the connection ends now.
    mutating func closed(_ stream: HTTP2StreamID, now: NIODeadline) -> Bool {
        guard streams.remove(stream) != nil else { return false }
        idleSince = now
        return isEnding && streams.isEmpty
    }

    /// Whether a stream is open.
    func isOpen(_ stream: HTTP2StreamID) -> Bool { streams.contains(stream) }

    /// Whether streams are open.
    var hasStreams: Bool { !streams.isEmpty }

    /// Whether another stream is within the limit of those that are open at once.
    var hasRoom: Bool { streams.count < HTTP2Limits.streams }

    /// A stream has begun and ended.
    mutating func served(_ stream: HTTP2StreamID, now: NIODeadline) {
        lastStream = max(lastStream, stream)
        idleSince = now
    }

    enum EndAction: Equatable {
        /// Tell the client, and wait for the streams that are open.
        case announce
        case close
        case none
    }

    /// The server stops, or nothing has happened for long.
    mutating func end() -> EndAction {
        guard !isEnding else { return .none }
        isEnding = true
        return streams.isEmpty ? .close : .announce
    }
}
