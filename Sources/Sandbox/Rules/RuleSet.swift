/// What is wrong with an upstream, by request: the first rule that fits, else the upstream's own fault.
struct RuleSet: Sendable, Equatable {
    static let capacity = 1_000

    private(set) var rules: [Rule] = []
    /// The upstream's own fault, the last rule.
    private(set) var fault = FaultPlan.online
    /// Number of requests that the upstream's own fault, or one of their own, was applied to.
    private var ordinal: UInt64 = 0
    private var lastID = 0

    /// Whether a decision needs the body of a request.
    var readsBodies: Bool { rules.contains { $0.definition.match.body != nil } }

    /// Sets the upstream's own fault, and starts its count at 0.
    mutating func set(_ fault: FaultPlan) {
        self.fault = fault
        ordinal = 0
    }

    /// Adds a rule after the others.
    /// - Returns: The rule; nil if there are too many.
    mutating func add(_ definition: Rule.Definition) -> Rule? {
        guard rules.count < Self.capacity else { return nil }
        lastID += 1
        let rule = Rule(id: lastID, definition)
        rules.append(rule)
        return rule
    }

    mutating func removeAll() { rules = [] }

    /// - Returns: Whether there was such a rule.
    @discardableResult
    mutating func remove(_ id: Int) -> Bool {
        let count = rules.count
        rules.removeAll { $0.id == id }
        return rules.count < count
    }

    /// Counts a request and decides what happens to it.
    /// - Parameter override: the request's own faults, which come before all rules.
    mutating func decide(_ request: MatchedRequest, override: FaultPlan?) -> Admission {
        if override == nil {
            for index in rules.indices {
                if let admission = rules[index].decide(request) { return admission }
            }
        }
        let plan = override ?? fault
        defer { ordinal += 1 }
        return Admission(plan: plan, decision: plan.decision(ordinal: ordinal))
    }

    /// Counts a request that was held and is released: the rest of its faults is applied to it, or the upstream's own
    /// fault if there is no rest. Nothing is held twice.
    mutating func decide(released admission: Admission) -> Admission {
        guard admission.plan.faults.count == 1 else {
            var admission = admission
            admission.decision.isHeld = false
            return admission
        }
        var next = decide(MatchedRequest(method: "", path: []), override: fault)
        if next.decision.isHeld {
            next.decision.isHeld = false
            if next.plan.faults.count == 1 { next = Admission(plan: .online, decision: .response) }
        }
        return next
    }
}
