import Foundation
import HTTP
import HTTPTypes

/// Decides the way of one request through a mount: `event → step`. A value without store, network or clock.
///
/// `CachingRules` judges the stored responses (RFC 9111 §4); this adds the state of the
/// upstream, of other clients' requests, and of failures.
struct ProxyMachine: Sendable {
    /// The step to begin with.
    let first: ProxyStep
    /// The last step; its alternative follows if a stored response cannot be read.
    private var last: ProxyStep
    /// Why the request was, or is about to be, sent.
    private(set) var plan = ForwardPlan(.miss)
    private var mayCollapse: Bool
    private var usesStore = true

    /// The machine of a client's request.
    ///
    /// - Parameter mayCollapse: Whether another client's response would do.
    init(mayCollapse: Bool) {
        self.mayCollapse = mayCollapse
        first = .look(usingStore: true)
        last = first
    }

    /// The machine of a validation in the background (RFC 5861 §3).
    init(validating validation: Validation) {
        mayCollapse = false
        plan = ForwardPlan(validation)
        first = plan.step
        last = first
    }

    /// Returns the step that follows an event.
    mutating func next(_ event: ProxyEvent) -> ProxyStep {
        let step = step(after: event)
        switch step {
        case .wait(let plan): self.plan = plan
        case .validate(let validation): plan = ForwardPlan(validation)
        case .forward(let reason), .forwardUnconditionally(let reason): plan = ForwardPlan(reason)
        case .complete: plan = ForwardPlan(.partial)
        default: break
        }
        last = step
        return step
    }

    private mutating func step(after event: ProxyEvent) -> ProxyStep {
        switch event {
        case .looked(let decision, let upstream): return consider(decision, upstream)
        case .unreadable: return alternative()
        case .leads:
            mayCollapse = false
            // The flight before may have stored its response between the look and this.
            return .look(usingStore: usesStore)
        case .completed(let outcome): return follow(outcome)
        case .failed(let error): return fallBack(.failed(error), orFail: error)
        case .responded(let status, let outcome): return weigh(outcome, status)
        case .brokeOff(let status):
            return fallBack(.brokeOff(status), orFail: .badResponse(status: status, reason: UpstreamError.cutShort))
        }
    }

    private func consider(_ decision: Decision, _ upstream: UpstreamState) -> ProxyStep {
        switch decision {
        case .gatewayTimeout(let validation):
            guard let validation, upstream.isOutOfReach else { return .fail(.notStored) }
            return .serveStale(validation, .offline, otherwise: .fail(.notStored))
        case .serve(let reuse): return .serve(reuse)
        case .complete(let completion):
            return upstream.pause.map { .fail($0.error) } ?? .complete(completion)
        case .forward(let reason):
            return upstream.pause.map { .fail($0.error) } ?? send(ForwardPlan(reason))
        case .validate(let validation):
            let otherwise = observe(upstream.pause, validation)
            guard upstream.isOutOfReach, validation.fallback.contains(.unreachable) else { return otherwise }
            return .serveStale(validation, .offline, otherwise: otherwise)
        }
    }

    /// Validates, unless the upstream requested a pause.
    private func observe(_ pause: UpstreamState.Pause?, _ validation: Validation) -> ProxyStep {
        guard let pause else { return send(ForwardPlan(validation)) }
        guard validation.fallback.covers(status: pause.status.code) else { return .fail(pause.error) }
        return .serveStale(validation, .paused, otherwise: .fail(pause.error))
    }

    private func send(_ plan: ForwardPlan) -> ProxyStep { mayCollapse ? .wait(plan) : plan.step }

    private mutating func follow(_ outcome: MountFlights.Outcome) -> ProxyStep {
        if case .failed(let error) = outcome, plan.validation == nil { return .fail(error) }
        mayCollapse = outcome == .abandoned
        return outcome == .stored ? .serveCollapsed(plan.reason) : .look(usingStore: usesStore)
    }

    private func weigh(_ outcome: ValidationOutcome?, _ status: HTTPResponse.Status) -> ProxyStep {
        switch outcome {
        case .freshened(let updates, let serving): .serveFreshened(updates, serving: serving)
        case .retryUnconditionally: .forwardUnconditionally(plan.reason)
        case .useStored: plan.validation.map { .serveStale($0, .status(status), otherwise: .pass) } ?? .pass
        case .passNotModified, .replace, nil: .pass
        }
    }

    /// Returns the stored response if it may be used in place of one that did not arrive; else the error.
    private func fallBack(_ cause: StaleCause, orFail error: UpstreamError) -> ProxyStep {
        guard let validation = plan.validation, validation.fallback.contains(.unreachable) else { return .fail(error) }
        return .serveStale(validation, cause, otherwise: .fail(error))
    }

    /// The step in place of one whose stored response cannot be read.
    private mutating func alternative() -> ProxyStep {
        switch last {
        case .serveStale(_, _, let otherwise): return otherwise
        case .serveFreshened: return .forward(.miss)
        case .complete: return .forward(.partial)
        case .serve:
            usesStore = false
            return .look(usingStore: false)
        default: return .look(usingStore: usesStore)
        }
    }
}

/// The next action for a proxied request. ``ProxyMachine`` decides, ``ProxyExchange`` carries it out.
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
    /// Send the request unchanged.
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

/// The result of the last step.
enum ProxyEvent: Sendable, Equatable {
    /// The store and the upstream's state were read.
    case looked(Decision, UpstreamState)
    /// The stored response of the step was removed, cannot be read or must not be used.
    case unreadable
    /// No other client has sent the same request: this one begins a flight.
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

/// The reachability of an upstream, as far as it concerns one request.
struct UpstreamState: Sendable, Equatable {
    /// A pause that the upstream has requested with `Retry-After`.
    struct Pause: Sendable, Equatable {
        let status: HTTPResponse.Status
        let seconds: Int

        /// The error of a request for which nothing is stored.
        var error: UpstreamError { .known(.failing(status: status, retryAfter: seconds)) }
    }

    /// Whether the upstream is known to be out of reach, so that asking would only cost time.
    var isOutOfReach = false
    /// The pause, if the request observes it.
    var pause: Pause?

    /// An upstream that may be requested.
    static let ready = UpstreamState()
}

extension UpstreamState {
    /// Judges the reachability for a request.
    ///
    /// A client that asks for the network gets it tried. Connections that break cost no time, so they are tried, too. A
    /// pause holds for reads, as for those of screens; writes are tried.
    init(_ reachability: Reachability, pause asked: Reachability.Pause?, for request: ProxiedRequest, at now: Date) {
        self.init()
        guard !request.requiresRevalidation else { return }
        isOutOfReach =
            !reachability.isReachable && reachability.lastError?.reason != UnreachableReason.reset.rawValue
        if request.readsStore, let asked {
            pause = Pause(status: asked.status, seconds: asked.seconds(at: now))
        }
    }
}
