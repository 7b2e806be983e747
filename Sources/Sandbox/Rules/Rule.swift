/// Faults for some requests of an upstream.
struct Rule: Sendable, Equatable {
    /// What a rule does; its requests are counted beside it.
    struct Definition: Sendable, Equatable {
        var match = RequestMatch()
        /// One for each request in turn, from the first again after the last.
        var faults: [FaultPlan]
        /// Whether the faults came as a sequence.
        var isSequence = false
        /// Number of requests that get a fault; nil for all.
        var times: Int?
        /// Number of matching requests before the first that gets one.
        var after = 0
    }

    let id: Int
    let definition: Definition
    /// Matching requests that came as far as this rule.
    private(set) var matched = 0
    /// Those that got a fault.
    private(set) var applied = 0

    init(id: Int, _ definition: Definition) {
        self.id = id
        self.definition = definition
    }

    /// Number of requests that will still get a fault; nil for any number.
    var left: Int? { definition.times.map { $0 - applied } }

    /// Counts a request if it is one of this rule's.
    /// - Returns: What happens to it; nil if that is for others to say.
    mutating func decide(_ request: MatchedRequest) -> Admission? {
        guard left != 0, definition.match.matches(request) else { return nil }
        matched += 1
        guard matched > definition.after else { return nil }
        defer { applied += 1 }
        let plan = definition.faults[applied % definition.faults.count]
        let ordinal = UInt64(applied / definition.faults.count)
        return Admission(plan: plan, decision: plan.decision(ordinal: ordinal), rule: id)
    }
}

/// The faults that were found for a request, and what they do to it.
struct Admission: Sendable, Equatable {
    let plan: FaultPlan
    var decision: FaultDecision
    /// The rule that had them; nil for the upstream's own fault, or the request's.
    var rule: Int?
}
