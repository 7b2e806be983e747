/// A request the connection layer answers itself, with a problem, before closing the connection.
public struct ConnectionRefusal: Sendable, Equatable {
    /// HTTP status code.
    public var status: Int
    /// Problem code of the contract, for example `malformed-request`.
    public var code: String
    /// One sentence for people; never contains what the client sent.
    public var detail: String

    /// A refusal with its status code, problem code and sentence.
    public init(status: Int, code: String, detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    /// 400: the message is not HTTP/1.1, or could be read in two ways (RFC 9112).
    public static func malformed(_ detail: String) -> ConnectionRefusal {
        ConnectionRefusal(status: 400, code: "malformed-request", detail: detail)
    }

    /// 431: request target, a field or all fields together are over the limit (RFC 6585 section 5).
    public static func headersTooLarge(_ detail: String) -> ConnectionRefusal {
        ConnectionRefusal(status: 431, code: "headers-too-large", detail: detail)
    }

    /// 408: head or body did not arrive in time (RFC 9110 section 15.5.9).
    public static func timedOut(_ detail: String) -> ConnectionRefusal {
        ConnectionRefusal(status: 408, code: "request-timeout", detail: detail)
    }
}

/// Why a connection was closed without a (whole) answer; for counters.
public enum AbruptClose: String, Sendable, CaseIterable {
    /// No request within ``ConnectionLimits/idleTimeout``.
    case idle
    /// The client took nothing for ``ConnectionLimits/writeDeadline``.
    case writeStalled = "write-stalled"
    /// The client went away before its request was complete.
    case truncatedRequest = "truncated-request"
    /// The request turned out bad when its response had begun already.
    case failedDuringResponse = "failed-during-answer"
}
