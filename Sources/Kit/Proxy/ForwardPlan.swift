import HTTPCaching

/// Why a request goes to the upstream, and which stored response it validates.
struct ForwardPlan: Sendable, Equatable {
    /// The reason, as in `Cache-Status`.
    let reason: CacheStatus.Forward
    /// The validation of a stored response; nil if nothing stored helps.
    let validation: Validation?

    init(_ reason: CacheStatus.Forward) {
        self.reason = reason
        validation = nil
    }

    init(_ validation: Validation) {
        reason = validation.reason
        self.validation = validation
    }

    /// The step that sends the request.
    var step: ProxyStep { validation.map(ProxyStep.validate) ?? .forward(reason) }
}
