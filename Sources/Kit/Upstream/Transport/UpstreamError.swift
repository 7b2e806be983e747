package import HTTPTypes

/// Why there is no usable response of an upstream. Thrown by ``Upstream``; `Screens` turns it into a problem.
///
/// Functions of this module that use stored responses throw `StorageError`, and those that take a `Database` GRDB's
/// errors; their comments name other errors, and cases that callers tell apart.
package enum UpstreamError: Error, Sendable, Equatable {
    /// No response arrived: the upstream counts as offline.
    case unreachable(UnreachableReason)
    /// The upstream refused with 4xx (other than 408 and 429) in its own form (``ErrorForm``): news of the resource,
    /// never hidden by a stored copy.
    case rejected(status: HTTPResponse.Status, body: [UInt8])
    /// The upstream responded with 5xx, 408 or 429: it is there, but does not work. `retryAfter` in seconds, if sent.
    case failing(status: HTTPResponse.Status, retryAfter: Int?)
    /// The response is none that this version of the API sends: not JSON, of another form, truncated, too large, or a
    /// 4xx in another form than its own.
    case badResponse(status: HTTPResponse.Status?, reason: String)
    /// A link or redirect names a host that `upstreams.{name}.allowed_hosts` does not list, or an address that is not
    /// public.
    case forbiddenTarget(String)
    /// The client sent `only-if-cached` and nothing is stored.
    case notStored
    /// The upstream responded, and its response could not be stored here: the fault is Larder's.
    case storageFailed(isFull: Bool)
    /// No request was sent, since its outcome is known. The host was unreachable lately, the upstream requested a
    /// pause, nothing is at the address, or it may not be requested.
    indirect case known(UpstreamError)
}

extension UpstreamError {
    /// Whether a status says that the upstream does not work, rather than something of the resource.
    /// RFC 9110 §15: 600 to 999 count as 5xx.
    static func isFailing(_ status: HTTPResponse.Status) -> Bool {
        status.code >= 500 || status == .requestTimeout || status == .tooManyRequests
    }

    /// Why there is no response, whether a request was sent for this read or not.
    package var cause: UpstreamError { if case .known(let cause) = self { cause } else { self } }

    /// Whether a request was sent.
    package var wasSent: Bool {
        switch self {
        case .known, .notStored: false
        case .unreachable, .rejected, .failing, .badResponse, .forbiddenTarget, .storageFailed: true
        }
    }

    /// Whether the response says that nothing usable is at the address, so that another one would say the same.
    var saysMissing: Bool {
        switch self {
        case .badResponse(_, Self.cutShort): false
        case .badResponse, .rejected, .forbiddenTarget: true
        case .unreachable, .failing, .notStored, .storageFailed, .known: false
        }
    }

    /// Whether the request may have reached the upstream and been carried out although no usable response arrived.
    ///
    /// True if the connection broke, the time ran out or the response is none of the API's. True for 5xx and 408: a
    /// server or gateway may fail after it has begun. 429 and 507 refuse the request, as does a 4xx in the API's own
    /// form.
    package var leavesOutcomeUnknown: Bool {
        switch self {
        case .unreachable(let reason): reason == .reset || reason == .totalTimeout
        case .badResponse(let status, _):
            status != nil || self != .badResponse(status: nil, reason: Self.requestCutShort)
        case .failing(let status, _): status != .tooManyRequests && status.code != 507
        case .rejected, .forbiddenTarget, .notStored, .storageFailed, .known: false
        }
    }

    /// The status of the upstream's response, if there was one.
    package var status: HTTPResponse.Status? {
        switch self {
        case .rejected(let status, _), .failing(let status, _): status
        case .badResponse(let status, _): status
        case .known(let cause): cause.status
        case .unreachable, .forbiddenTarget, .notStored, .storageFailed: nil
        }
    }
}

extension UpstreamError: CustomStringConvertible {
    /// A text for the log: nothing of the body of a response.
    package var description: String {
        switch self {
        case .unreachable(let reason): "no response (\(reason.rawValue))"
        case .rejected(let status, _): "refused with \(status.code)"
        case .failing(let status, _): "failed with \(status.code)"
        case .badResponse(let status, let reason):
            "an unusable response\(status.map { " with \($0.code)" } ?? "") (\(reason))"
        case .forbiddenTarget(let target): "a link to \(target), which is not allowed"
        case .notStored: "nothing stored, and the client wants nothing else"
        case .storageFailed(let isFull): isFull ? "the disk is full" : "the response could not be stored"
        case .known(let cause): "\(cause.description), known before"
        }
    }
}

/// The ways in which an upstream can be out of reach (docs/contract.md, "Freshness").
package enum UnreachableReason: String, Sendable, Equatable, CaseIterable {
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

    /// Creates the reason why a gateway (Cloudflare) did not reach the upstream behind it; nil for other statuses.
    ///
    /// 522 is also sent if the connection was made and the request not acknowledged: it may have been carried out.
    init?(gateway status: HTTPResponse.Status) {
        switch status.code {
        case 521: self = .refused
        case 522: self = .totalTimeout
        case 523: self = .network
        case 530: self = .nameResolution
        default: return nil
        }
    }

    /// Whether an immediate retry may succeed: the upstream may have closed a kept-alive connection.
    var isWorthAnotherTry: Bool { self == .reset }
}
