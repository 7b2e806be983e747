import NIOCore
import NIOHTTP1

/// Records the response that is being sent, and caches it when it has ended.
struct ResponseRecording {
    private let cache: ResponseCache
    /// The bytes of the request head, if the response may be recorded.
    private var head: ByteBuffer?
    /// The sent buffers, which share their bytes.
    private var capture: (pieces: [ByteBuffer], count: Int, ticket: ResponseCache.Ticket)?

    init(_ cache: ResponseCache) { self.cache = cache }

    /// Whether the bytes of a response are needed.
    var isCapturing: Bool { capture != nil }

    /// Begins with a request that is passed to the application.
    ///
    /// - Parameter bytes: Its head; nil if it did not arrive alone.
    mutating func begin(_ head: HTTPRequestHead, bytes: ByteBuffer?) {
        self.head = bytes.flatMap { ResponseCacheKey.isEligible(head, bytes: $0) ? $0 : nil }
        capture = nil
    }

    /// The head of its response is sent next.
    mutating func responseBegins(_ annotations: ResponseAnnotations.Values) {
        guard head != nil, let ticket = ResponseCache.Ticket(annotations) else { return }
        capture = ([], 0, ticket)
    }

    /// Takes a piece of the response.
    mutating func append(_ bytes: ByteBuffer) {
        guard let count = capture?.count else { return }
        guard count + bytes.readableBytes <= ResponseCache.largest else { return abandon() }
        capture?.pieces.append(bytes)
        capture?.count += bytes.readableBytes
    }

    /// Takes the head of a response that is not sent as the bytes of HTTP/1.1, as these.
    mutating func append(_ head: HTTPResponseHead) {
        guard isCapturing else { return }
        var bytes = ByteBuffer(string: "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        for (name, value) in head.headers { bytes.writeString("\(name): \(value)\r\n") }
        bytes.writeString("\r\n")
        append(bytes)
    }

    /// The response has been sent.
    mutating func end(now: NIODeadline) {
        if let capture, let head {
            var bytes = ByteBufferAllocator().buffer(capacity: capture.count)
            for piece in capture.pieces { bytes.writeImmutableBuffer(piece) }
            cache.record(bytes, capture.ticket, for: head, now: now)
        }
        abandon()
    }

    /// The response is not to be cached.
    mutating func abandon() {
        capture = nil
        head = nil
    }
}
