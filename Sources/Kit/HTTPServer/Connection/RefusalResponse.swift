import Foundation
import HTTPSemantics
import NIOCore
import NIOHTTP1
import Synchronization

/// What is known of a refused request whose head has arrived.
public struct RefusedHead: Sendable, Equatable {
    /// The request target, as it was received.
    public let target: String
    /// The lines of `Accept-Language`.
    public let acceptedLanguages: [String]

    init(_ head: HTTPRequestHead) {
        target = head.uri
        acceptedLanguages = head.headers["Accept-Language"]
    }
}

/// A refusal as the application writes it.
public struct RefusalContent: Sendable {
    let type: String
    let language: String
    let body: [UInt8]

    /// Creates the content of the response.
    ///
    /// - Parameters:
    ///   - type: Its media type.
    ///   - language: The language of its texts (RFC 9110 §8.5).
    public init(type: String, language: String, body: [UInt8]) {
        self.type = type
        self.language = language
        self.body = body
    }
}

/// Contents of refusals for requests of which nothing is known: made once, because a client can have thousands of them
/// in a second.
final class RefusalContents: Sendable {
    private let render: @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent
    private let known = Mutex<[String: RefusalContent]>([:])

    init(_ render: @escaping @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent) { self.render = render }

    /// Returns the content of a refusal.
    func content(of refusal: ConnectionRefusal, _ head: RefusedHead?) -> RefusalContent {
        guard head == nil else { return render(refusal, head) }
        if let content = known.withLock({ $0[refusal.detail] }) { return content }
        let content = render(refusal, nil)
        // There are few details, and none has what a client has sent.
        known.withLock { $0[refusal.detail] = content }
        return content
    }
}

/// The response to a refused request: a problem in the application's own form, and the end of the connection.
struct RefusalResponse {
    /// Head, body and end as the encoder takes them.
    let parts: [HTTPServerResponsePart]

    init(
        _ refusal: ConnectionRefusal,
        version: HTTPVersion,
        isHEAD: Bool,
        _ content: RefusalContent
    ) {
        let body = refusal.location == nil ? content.body : []
        var headers: HTTPHeaders = [
            "Content-Type": content.type,
            "Content-Language": content.language,
            "Vary": "Accept-Language",
            "Content-Length": String(body.count),
            "Connection": "close",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            // RFC 9110 §6.6.1: with every 4xx of a server that has a clock.
            "Date": HTTPDate.format(Date()),
        ]
        if let location = refusal.location {
            for name in ["Content-Type", "Content-Language", "Vary"] { headers.remove(name: name) }
            headers.add(name: "Location", value: location)
        }
        let head = HTTPResponseHead(
            version: version,
            status: HTTPResponseStatus(statusCode: refusal.status),
            headers: headers
        )
        parts = [.head(head)] + (isHEAD ? [] : [.body(.byteBuffer(ByteBuffer(bytes: body)))]) + [.end(nil)]
    }
}
