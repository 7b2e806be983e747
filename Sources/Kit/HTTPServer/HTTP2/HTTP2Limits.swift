import NIOCore
import NIOHTTP2

/// What a client may ask of an HTTP/2 connection beyond ``ConnectionLimits``; NIO ends the connection of one that goes
/// beyond it.
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
            // Beyond it the connection ends, between it and the limit of a head the request gets a problem.
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
