import NIOCore
import NIOHTTP1

/// What ``ResponseCacheHandler`` asks and tells: it answers ahead of the decoder while nothing is under way.
extension ConnectionHandler {
    /// Whether a request that arrived now would be answered at once, with the connection going on afterwards.
    var isAtRest: Bool {
        state.isAtRest && held.isEmpty && isWritable
    }

    /// Requests of so many bytes were answered ahead of the decoder, and the responses flushed.
    func servedFromCache(bytes: Int, now: NIODeadline) {
        undecoded.servedFromCache(bytes: bytes)
        state.servedFromCache(now: now)
        if let context { watchWrites(context) }
    }

    /// Counts what the decoder read.
    func noteDecoded(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head):
            decoded.heads += 1
            decoded.isChunked = head.headers.contains(name: "Transfer-Encoding")
            decoded.contentLength =
                decoded.isChunked ? nil : head.headers.first(name: "Content-Length").flatMap { Int($0) }
        case .body:
            break
        case .end:
            decoded.ends += 1
        }
    }
}
