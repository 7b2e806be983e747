import NIOHTTP1

/// What the decoder has read since the connection began.
struct DecodedCounts: Equatable {
    /// Heads of requests.
    var heads = 0
    /// Ends of requests.
    var ends = 0
    /// `Content-Length` of the last head; nil without it, or with `Transfer-Encoding`.
    var contentLength: Int?
    /// Whether the last head has a `Transfer-Encoding`; none but `chunked` is accepted.
    var isChunked = false

    /// Counts a part.
    mutating func note(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head):
            heads += 1
            isChunked = head.headers.contains(name: "Transfer-Encoding")
            contentLength = isChunked ? nil : head.headers.first(name: "Content-Length").flatMap { Int($0) }
        case .body:
            break
        case .end:
            ends += 1
        }
    }
}
