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

    func isOpen(_ stream: HTTP2StreamID) -> Bool { streams.contains(stream) }

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

/// Limits of a client on an HTTP/2 connection beyond ``ConnectionLimits``; NIO ends the connection of a client that
/// exceeds one.
enum HTTP2Limits {
    /// Streams at once (RFC 9113 §5.1.2).
    static let streams = 100
    /// Streams that a client may reset within a time: browsers do so when pictures scroll out of sight.
    static let resets = 1000
    static let resetTime = TimeAmount.seconds(30)
    /// Acknowledgements that wait for a client that does not read.
    static let bufferedControlFrames = 1000
    /// Streams that were reset lately, whose frames may still arrive.
    static let recentlyReset = 200
    /// Bytes that one response has waiting before its producer waits, as for a connection of HTTP/1.1.
    static let outputHigh = 64 << 10
    static let outputLow = 32 << 10
    /// Bytes of a request body that may be on their way or unread once the application has begun to read it; before
    /// that they are 65,535 (RFC 9113 §6.9.2). A client that waits 20 ms for each answer uploads 13 MB in a second.
    static let window = 256 << 10
}

extension NIOHTTP2Handler {
    /// Creates the handler of a server's connection.
    static func larder(_ limits: ConnectionLimits, _ delegate: any NIOHTTP2FrameDelegate) -> NIOHTTP2Handler {
        var connection = ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: HTTP2Limits.streams),
            // Between the limit of a head and this one, the request gets a problem; beyond, the connection ends.
            HTTP2Setting(parameter: .maxHeaderListSize, value: 2 * limits.headerBytes),
        ]
        connection.maximumRecentlyResetStreams = HTTP2Limits.recentlyReset
        connection.maximumBufferedControlFrames = HTTP2Limits.bufferedControlFrames
        var stream = StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = HTTP2Limits.resets
        stream.streamResetFrameRateLimit.windowLength = HTTP2Limits.resetTime
        return NIOHTTP2Handler(
            mode: .server,
            frameDelegate: delegate,
            connectionConfiguration: connection,
            streamConfiguration: stream
        )
    }
}

/// Frames that NIO has written on a connection, and whether NIO has given the connection up: its errors do not tell
/// those of a stream from those of the connection.
final class HTTP2WrittenFrames: NIOHTTP2FrameDelegate {
    private(set) var hasFailed = false
    /// Bytes in DATA frames.
    private(set) var data = 0
    /// Settings of the client that were acknowledged.
    private(set) var acknowledgements = 0
    /// Whether a header block was written since the last acknowledgement.
    private(set) var hasBlockSince = false

    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .data(let body): data += body.data.readableBytes
        case .headers: hasBlockSince = true
        case .settings(.ack):
            acknowledgements += 1
            hasBlockSince = false
        case .goAway(_, let code, _) where code != .noError: hasFailed = true
        default: break
        }
    }
}

/// The window of a connection (RFC 9113 §5.2), divided between NIO and the responses that are sent beside it. NIO
/// sees a part of the client's window, so that both together never send more than all of it.
struct HTTP2SplitWindow {
    /// Size at the beginning (RFC 9113 §6.9.2), of which NIO knows.
    static let initial = 65_535
    /// Largest size (RFC 9113 §6.9.1).
    static let largest = Int(Int32.max)
    /// Most bytes that NIO is kept ready to send at once.
    private static let ready = 1 << 20

    /// Bytes that NIO was allowed to send since the connection began.
    private var given = initial
    /// Bytes that may be sent beside NIO.
    private(set) var held = 0

    /// Whether the client may open the window by so many bytes; if not, NIO is to find that.
    func mayOpen(by increment: Int, written: Int) -> Bool {
        increment > 0 && held + given - written <= Self.largest - increment
    }

    /// The client has opened the window.
    mutating func opened(by increment: Int) { held += increment }

    /// Takes bytes that are sent beside NIO.
    mutating func take(_ count: Int) {
        precondition(count <= held, "a window is exceeded")
        held -= count
    }

    /// How many bytes NIO is to be given now: half of the whole, or all of a small window if NIO needs them. It is not
    /// 0 when NIO could send nothing, unless nothing is held either.
    ///
    /// - Parameter written: Bytes of DATA frames that NIO has written since the connection began.
    func due(written: Int) -> Int {
        let rest = given - written
        let all = rest + held
        let aim = all <= 2 * Self.initial ? all : min(Self.ready, all / 2)
        return rest * 2 < aim ? min(held, aim - rest) : 0
    }

    /// NIO may send more of the held bytes.
    mutating func give(_ count: Int) {
        held -= count
        given += count
    }
}
