import Foundation
import HTTP
import NIOCore
import NIOHTTP1
import Synchronization

/// A request that the connection layer responds to itself, with a problem, before closing the connection.
package struct ConnectionRefusal: Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// 400: the message is not HTTP/1.1, or could be read in two ways (RFC 9112).
        case malformed
        /// 414: the request target is over the limit (RFC 9110 section 15.5.15).
        case targetTooLong
        /// 431: a field or all fields together are over the limit (RFC 6585 section 5).
        case headersTooLarge
        /// 408: head or body did not arrive in time (RFC 9110 section 15.5.9).
        case timedOut
        /// 308 or 400: the request arrived in clear text on a port for TLS.
        case clearText
    }

    package let reason: Reason
    /// One sentence for people; never contains anything that the client sent.
    package let detail: String
    /// Address of the requested resource; nil if the response is a problem.
    private(set) var location: String?

    var status: Int {
        switch reason {
        case .clearText: location == nil ? 400 : 308
        case .malformed: 400
        case .targetTooLong: 414
        case .headersTooLarge: 431
        case .timedOut: 408
        }
    }

    static func malformed(_ detail: String) -> ConnectionRefusal { .init(reason: .malformed, detail: detail) }

    static func headersTooLarge(_ detail: String) -> ConnectionRefusal {
        .init(reason: .headersTooLarge, detail: detail)
    }

    static func targetTooLong(_ detail: String) -> ConnectionRefusal { .init(reason: .targetTooLong, detail: detail) }

    /// For a request in clear text that cannot be repeated at another address.
    static let clearText = ConnectionRefusal(
        reason: .clearText,
        detail: "This port speaks HTTPS only. Use an address that begins with https://, and send this request again."
    )

    /// Redirects a request in clear text.
    static func redirect(to location: String) -> ConnectionRefusal {
        var refusal = clearText
        refusal.location = location
        return refusal
    }

    static func timedOut(_ detail: String) -> ConnectionRefusal { .init(reason: .timedOut, detail: detail) }
}

/// Why a connection was closed without a whole response; for counters.
package enum AbruptClose: String, Sendable, CaseIterable {
    /// No request within ``ConnectionLimits/idleTimeout``.
    case idle
    /// No handshake of TLS within ``ConnectionLimits/headDeadline`` of its first byte, or one that failed.
    case handshake = "tls-handshake"
    /// The client took nothing for ``ConnectionLimits/writeDeadline``.
    case writeStalled = "write-stalled"
    /// The client has more connections than one address may have, or most of all where there is room for no more.
    case tooManyConnections = "too-many-connections"
    /// The client takes so little of the responses to its requests that it holds more than any other one.
    case heldTooMuch = "held-too-much"
    /// The client has broken the rules of HTTP/2, or made more expensive requests than it may.
    case http2 = "http2-error"
    /// The client disconnected before its request was complete.
    case truncatedRequest = "truncated-request"
    /// The request turned out bad when its response had begun already.
    case failedDuringResponse = "failed-during-response"
}

/// A refused request whose head has arrived.
package struct RefusedHead: Sendable, Equatable {
    package let target: String
    package let acceptedLanguages: [String]

    init(_ head: HTTPRequestHead) {
        target = head.uri
        acceptedLanguages = head.headers["Accept-Language"]
    }
}

/// The content of a refusal, written by the application.
package struct RefusalContent: Sendable {
    let type: String
    let language: String
    let body: [UInt8]

    /// - Parameters:
    ///   - type: Its media type.
    ///   - language: The language of its texts (RFC 9110 §8.5).
    package init(type: String, language: String, body: [UInt8]) {
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

    func content(of refusal: ConnectionRefusal, _ head: RefusedHead?) -> RefusalContent {
        guard head == nil else { return render(refusal, head) }
        if let content = known.withLock({ $0[refusal.detail] }) { return content }
        let content = render(refusal, nil)
        // There are few details, and none contains anything that a client has sent.
        known.withLock { $0[refusal.detail] = content }
        return content
    }
}

/// The response to a refused request: a problem in the application's own form, and the end of the connection.
struct RefusalResponse {
    /// Head, body and end, for the encoder.
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
