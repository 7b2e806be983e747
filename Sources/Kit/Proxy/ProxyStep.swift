import HTTPCaching
import HTTPTypes
import Upstream

/// What is done next with a proxied request. ``ProxyMachine`` decides, ``ProxyExchange`` carries it out.
indirect enum ProxyStep: Sendable, Equatable {
    /// Look at the store and at the upstream's state; without the store if a stored body could not be read.
    case look(usingStore: Bool)
    /// Return a stored response that may be used.
    case serve(Reuse)
    /// Return a stored response because of this failure; if its body cannot be read, continue otherwise.
    case serveStale(Validation, StaleCause, otherwise: ProxyStep)
    /// Wait for the same request of another client, or lead it.
    case wait(ForwardPlan)
    /// Return the response that the other client's request has stored (RFC 9111 §4), for this reason of forwarding.
    case serveCollapsed(CacheStatus.Forward)
    /// Send the request with the preconditions of a stored response (RFC 9111 §4.3.1).
    case validate(Validation)
    /// Request the bytes that are missing, and combine them with stored ones (RFC 9111 §3.4).
    case complete(Completion)
    /// Send the request as it is.
    case forward(CacheStatus.Forward)
    /// Send it again without any precondition: the 304 belongs to no known response.
    case forwardUnconditionally(CacheStatus.Forward)
    /// Update stored responses from a 304, and return one of them (RFC 9111 §4.3.4).
    case serveFreshened([FreshenedResponse], serving: FreshenedResponse)
    /// Pass the upstream's response on, and store it on its way if it may be stored.
    case pass
    /// There is no response.
    case fail(UpstreamError)
}

/// What has happened since the last step.
enum ProxyEvent: Sendable, Equatable {
    /// The store and the upstream's state were looked at.
    case looked(Decision, UpstreamState)
    /// The stored response of the step is gone, cannot be read or must not be used.
    case unreadable
    /// No other client sends the same request: this one leads.
    case leads
    /// The same request of another client has ended.
    case completed(MountFlights.Outcome)
    /// The upstream sent no response.
    case failed(UpstreamError)
    /// The head of the upstream's response has arrived; with its meaning if a stored response was validated.
    case responded(HTTPResponse.Status, ValidationOutcome?)
    /// The body of a small response was truncated before any of it was passed on.
    case brokeOff(HTTPResponse.Status)
}

/// Why a stored response is returned although it is not fresh, and how that is reported.
struct StaleCause: Sendable, Equatable {
    /// `detail` of `Cache-Status`.
    let detail: String
    /// The status with which the upstream refused, if it did.
    var upstreamStatus: Int?
    /// Whether a request was sent to the upstream.
    var isTried = true
    /// Whether the upstream is out of reach.
    var isOffline = false

    /// The upstream is known to be out of reach.
    static let offline = StaleCause(detail: "offline", isTried: false, isOffline: true)
    /// The upstream requested a pause.
    static let paused = StaleCause(detail: "retry-after", isTried: false)

    /// The upstream sent no response.
    static func failed(_ error: UpstreamError) -> StaleCause {
        let isUnreachable = if case .unreachable = error { true } else { false }
        return StaleCause(detail: isUnreachable ? "unreachable" : "bad-response", isOffline: true)
    }

    /// The upstream refused with this status (RFC 5861 §4).
    static func status(_ status: HTTPResponse.Status) -> StaleCause {
        StaleCause(detail: "stale-if-error", upstreamStatus: status.code)
    }

    /// The upstream's response was truncated.
    static func brokeOff(_ status: HTTPResponse.Status) -> StaleCause {
        StaleCause(detail: "bad-response", upstreamStatus: status.code)
    }
}
