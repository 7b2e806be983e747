import JSONValues

/// Faults for some requests of an upstream.
struct Rule: Sendable, Equatable {
    /// The effect of a rule, without the counts of its requests.
    struct Definition: Sendable, Equatable {
        var match = RequestMatch()
        /// One for each request in turn. After the last fault the first one follows again.
        var faults: [FaultPlan]
        /// Whether the faults were given as a sequence.
        var isSequence = false
        /// The response in place of the upstream's; nil for the latter.
        var respond: StubResponse?
        /// Number of requests that get a fault; nil for all.
        var times: Int?
        /// Number of matching requests that pass before the first one gets a fault.
        var after = 0

        /// Whether the fault of the upstream still applies, because the rule has a response but no fault of its own.
        var leavesFault: Bool { respond != nil && !isSequence && faults == [.online] }
    }

    let id: Int
    let definition: Definition
    /// Number of matching requests for which no earlier rule decided.
    private(set) var matched = 0
    /// Number of requests that got a fault.
    private(set) var applied = 0

    init(id: Int, _ definition: Definition) {
        self.id = id
        self.definition = definition
    }

    /// Number of requests that will still get a fault; nil for any number.
    var left: Int? { definition.times.map { $0 - applied } }

    /// Counts a request if it is one of this rule's.
    /// - Returns: The faults of the request; nil if others decide.
    mutating func decide(_ request: MatchedRequest) -> Admission? {
        guard left != 0, definition.match.matches(request) else { return nil }
        matched += 1
        guard matched > definition.after else { return nil }
        defer { applied += 1 }
        let plan = definition.faults[applied % definition.faults.count]
        let ordinal = UInt64(applied / definition.faults.count)
        var decision = plan.decision(ordinal: ordinal)
        if let respond = definition.respond, decision.source == .upstream {
            decision.source = .stub(respond, count: applied + 1)
        }
        return Admission(plan: plan, decision: decision, rule: id)
    }
}

/// The faults that were found for a request, and their effect.
struct Admission: Sendable, Equatable {
    let plan: FaultPlan
    var decision: FaultDecision
    /// The rule that had them; nil for the upstream's own fault, or the request's.
    var rule: Int?
}

/// The faults of an upstream. The first rule that has a fault for a request decides, otherwise the upstream's own
/// fault.
struct RuleSet: Sendable, Equatable {
    static let capacity = 1_000

    private(set) var rules: [Rule] = []
    /// The upstream's own fault, the last rule.
    private(set) var fault = FaultPlan.online
    /// Number of requests to which the upstream's own fault, or one from the request, was applied.
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

    /// Counts a request and decides its faults.
    /// - Parameter override: The request's own faults, which take precedence over all rules.
    mutating func decide(_ request: MatchedRequest, override: FaultPlan?) -> Admission {
        if override == nil {
            for index in rules.indices {
                guard let admission = rules[index].decide(request) else { continue }
                return rules[index].definition.leavesFault ? behindFault(admission) : admission
            }
        }
        let plan = override ?? fault
        defer { ordinal += 1 }
        return Admission(plan: plan, decision: plan.decision(ordinal: ordinal))
    }

    /// Returns the upstream's own fault with the response of a rule in place of the upstream's.
    private mutating func behindFault(_ admission: Admission) -> Admission {
        guard fault != .online else { return admission }
        defer { ordinal += 1 }
        var decision = fault.decision(ordinal: ordinal)
        if decision.source == .upstream { decision.source = admission.decision.source }
        return Admission(plan: fault, decision: decision, rule: admission.rule)
    }

    /// Counts a held request that is released. The rest of its faults is applied to it, or the upstream's own fault if
    /// there is no rest. No request is held twice.
    mutating func decide(released admission: Admission) -> Admission {
        guard admission.plan.faults.count == 1, admission.decision.source.isWithoutFault else {
            var admission = admission
            admission.decision.isHeld = false
            return admission
        }
        var next = decide(MatchedRequest(method: "", path: []), override: fault)
        if next.decision.isHeld {
            next.decision.isHeld = false
            if next.plan.faults.count == 1 { next = Admission(plan: .online, decision: .response) }
        }
        if next.decision.source == .upstream { next.decision.source = admission.decision.source }
        return next
    }
}

extension Rule.Definition {
    /// Reads `{"match":{…},"fault":… | "faults":[…],"respond":{…},"times":2,"after":3}`. A sequence ends with its last
    /// fault unless `times` says otherwise.
    init(_ value: JSONValue) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(only: "match", "fault", "faults", "respond", "times", "after")
        respond = try fields["respond"].map { (value) throws(ControlProblem) in try StubResponse(value) }
        if let match = value.object?["match"] { self.match = try RequestMatch(match) } else { match = RequestMatch() }
        after = try fields.integer("after", in: 0...1_000_000) ?? 0
        let times = try fields.integer("times", in: 1...1_000_000)
        switch (value.object?["fault"], value.object?["faults"]) {
        case (let fault?, nil):
            faults = [try FaultPlan(ofRequests: fault, field: "fault")]
            self.times = times
        case (nil, let sequence?):
            faults = try Self.sequence(sequence)
            isSequence = true
            self.times = times ?? faults.count
        case (nil, nil) where respond != nil:
            faults = [.online]
            self.times = times
        default:
            throw .invalid(
                field: "fault",
                value: value.excerpt,
                accepted: FaultSyntaxError.accepted,
                reason: "a rule has either fault or faults, or respond"
            )
        }
    }

    private static func sequence(_ value: JSONValue) throws(ControlProblem) -> [FaultPlan] {
        guard let values = value.array, (1...1_000).contains(values.count) else {
            throw .invalid(field: "faults", value: value.excerpt, accepted: ["an array of 1…1000 faults"])
        }
        var plans: [FaultPlan] = []
        for value in values { plans.append(try FaultPlan(ofRequests: value, field: "faults")) }
        return plans
    }
}

extension Rule {
    var json: JSONValue {
        let texts = definition.faults.map { JSONValue.string($0.description) }
        return .object([
            "id": .integer(id), "match": definition.match.json,
            "faults": definition.isSequence ? .array(texts) : nil, "fault": definition.isSequence ? nil : texts[0],
            "respond": definition.respond?.json, "times": .integerOrNull(definition.times),
            "after": .integer(definition.after), "matched": .integer(matched), "applied": .integer(applied),
            "left": .integerOrNull(left),
        ])
    }
}
