public import HTTPTypes

/// Why an upstream gave nothing usable. Thrown by ``Upstream``; `Screens` turns it into a problem in one place.
public enum UpstreamError: Error, Sendable, Equatable {
    /// No response reached us: the upstream counts as offline.
    case unreachable(UnreachableReason)
    /// The upstream refused with 4xx (other than 408 and 429) in its own form (``ErrorForm``): news about the thing
    /// asked for, never hidden by a stored copy.
    case rejected(status: HTTPResponse.Status, body: [UInt8])
    /// The upstream answered 5xx, 408 or 429: it is there, but not working. `retryAfter` in seconds where it named one.
    case failing(status: HTTPResponse.Status, retryAfter: Int?)
    /// The upstream answered something that this version of its API does not answer: not JSON, wrong shape, cut short,
    /// too large, a 4xx in another
    /// form than its own.
    case badResponse(status: HTTPResponse.Status?, reason: String)
    /// A link or redirect leads to a host that `upstreams.{name}.allowed_hosts` does not list, or to an address that is
    /// not public.
    case forbiddenTarget(String)
    /// The client sent `only-if-cached` and nothing is stored.
    case notStored
}

extension UpstreamError {
    /// Statuses that say that the upstream is not working, rather than something about what was asked for.
    /// RFC 9110 §15: 600 to 999 count as 5xx.
    static func isFailing(_ status: HTTPResponse.Status) -> Bool {
        status.code >= 500 || status == .requestTimeout || status == .tooManyRequests
    }

    /// Whether the request may have reached the upstream and been carried out although no usable response arrived.
    ///
    /// True if the connection broke, the time ran out or the response is none of the API's, and for 5xx and 408: a
    /// server or gateway may fail after it has begun. 429 and 507 refuse the request, as does a 4xx in the API's own
    /// form.
    public var leavesOutcomeUnknown: Bool {
        switch self {
        case .unreachable(let reason): reason == .reset || reason == .totalTimeout
        case .badResponse(let status, _):
            status != nil || self != .badResponse(status: nil, reason: Self.requestCutShort)
        case .failing(let status, _): status != .tooManyRequests && status.code != 507
        case .rejected, .forbiddenTarget, .notStored: false
        }
    }

    /// What the upstream answered, where it answered.
    public var status: HTTPResponse.Status? {
        switch self {
        case .rejected(let status, _), .failing(let status, _): status
        case .badResponse(let status, _): status
        case .unreachable, .forbiddenTarget, .notStored: nil
        }
    }
}

/// The ways in which an upstream can be out of reach (design/screens.md 1.5).
public enum UnreachableReason: String, Sendable, Equatable, CaseIterable {
    /// Its name does not resolve.
    case nameResolution = "dns"
    /// It, or something before it, refuses the connection.
    case refused
    /// The connection broke before a response had begun.
    case reset
    /// No TLS session could be made.
    case tls
    /// No connection within `connect_timeout_ms`.
    case connectTimeout = "connect-timeout"
    /// No whole response within `total_timeout_ms`.
    case totalTimeout = "total-timeout"
    /// The network itself reports an error.
    case network

    /// Whether a second try at once has a chance: a kept-alive connection may have been closed under us.
    var isWorthAnotherTry: Bool { self == .reset }
}
