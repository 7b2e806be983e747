/// A request that the connection layer responds to itself, with a problem, before closing the connection.
public struct ConnectionRefusal: Sendable, Equatable {
    /// Why a request is refused.
    public enum Reason: Sendable, Equatable {
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

    /// Why the request is refused.
    public let reason: Reason
    /// One sentence for people; never contains what the client sent.
    public let detail: String
    /// Address of the requested resource; nil if the response is a problem.
    public private(set) var location: String?

    /// HTTP status code.
    public var status: Int {
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
public enum AbruptClose: String, Sendable, CaseIterable {
    /// No request within ``ConnectionLimits/idleTimeout``.
    case idle
    /// No handshake of TLS within ``ConnectionLimits/headDeadline`` of its first byte, or one that failed.
    case handshake = "tls-handshake"
    /// The client took nothing for ``ConnectionLimits/writeDeadline``.
    case writeStalled = "write-stalled"
    /// The client has more connections than one address may have, or most of all where there is room for no more.
    case tooManyConnections = "too-many-connections"
    /// The client takes so little of what it asks for that it holds more than any other one.
    case heldTooMuch = "held-too-much"
    /// The client has broken the rules of HTTP/2, or asked for more of what costs than it may.
    case http2 = "http2-error"
    /// The client disconnected before its request was complete.
    case truncatedRequest = "truncated-request"
    /// The request turned out bad when its response had begun already.
    case failedDuringResponse = "failed-during-response"
}
