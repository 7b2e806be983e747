import NIOCore
import NIOHTTP2

/// What NIO has written on a connection, and whether it has given it up: its errors do not tell those of a stream from
/// those of the connection.
final class HTTP2WrittenFrames: NIOHTTP2FrameDelegate {
    private(set) var hasFailed = false
    /// Bytes in DATA frames.
    private(set) var data = 0
    /// Settings of the client that were acknowledged.
    private(set) var acknowledgements = 0
    /// Whether a header block was written since.
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
