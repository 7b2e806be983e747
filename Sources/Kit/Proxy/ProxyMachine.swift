import HTTPCaching
import HTTPTypes
import Upstream

/// Decides the way of one request through a mount: `event → step`. A value without store, network or clock.
///
/// What the stored responses mean is decided by ``CachingRules`` (RFC 9111 §4); this adds what is known of the
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

    /// Returns what is stored if it may be used in place of a response that did not arrive; else the error.
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
