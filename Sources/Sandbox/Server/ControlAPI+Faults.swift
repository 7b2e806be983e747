import HTTPTypes

extension ControlAPI {
    /// Responds to the calls below `upstreams/{name}`.
    func faults(_ request: ControlRequest, slot: SimulatedUpstreams.Slot) throws(ControlProblem) -> UpstreamResponse {
        _ = try request.parameters()
        switch (request.path[2], request.path.count) {
        case ("fault", 3):
            try request.require(.get, .put)
            if request.method == .put { slot.gate.set(try Self.fault(in: request)) }
            return .json(.ok, slot.status)
        case ("release", 3):
            try request.require(.post)
            return .json(.ok, ["released": .integer(try Self.release(request, slot.gate))])
        case ("rules", 3): return try rules(request, slot)
        case ("rules", 4): return try rule(request, slot)
        default: throw .nothing(at: request.path)
        }
    }

    private static func fault(in request: ControlRequest) throws(ControlProblem) -> FaultPlan {
        let body = try request.json()
        guard let members = body.object?.members, members.count == 1, members[0].name == "fault" else {
            throw .invalid(
                field: "fault",
                value: String(decoding: request.body.prefix(60), as: UTF8.self),
                accepted: FaultSyntaxError.accepted,
                reason: #"the body is {"fault":"…"}"#
            )
        }
        return try FaultPlan(members[0].value, field: "fault")
    }

    /// Releases what the body says: nothing or `{}`, all; a count, those that wait longest; a sequence, that one.
    static func release(_ request: ControlRequest, _ gate: FaultGate) throws(ControlProblem) -> Int {
        guard !request.body.isEmpty else { return gate.release() }
        let fields = try ControlFields(try request.json())
        try fields.require(only: "count", "sequence")
        let count = try fields.integer("count", in: 1...1_000_000)
        let sequence = try fields.integer("sequence", in: 1...Int.max)
        guard count == nil || sequence == nil else {
            throw .invalid(
                field: "sequence",
                value: String(sequence ?? 0),
                accepted: [#"{"count":1}"#, #"{"sequence":1}"#],
                reason: "a count and a sequence exclude each other"
            )
        }
        return gate.release(count: count ?? .max, sequence: sequence)
    }
}

// MARK: - Rules

extension ControlAPI {
    private func rules(_ request: ControlRequest, _ slot: SimulatedUpstreams.Slot) throws(ControlProblem)
        -> UpstreamResponse
    {
        try request.require(.get, .post, .delete)
        switch request.method {
        case .post:
            var definition = try Rule.Definition(try request.json())
            definition.match = definition.match.below(slot.upstream.name)
            guard let rule = slot.gate.change({ [definition] in $0.add(definition) }) else {
                throw .conflict("An upstream has at most \(RuleSet.capacity) rules.")
            }
            return .json(.created, rule.json)
        case .delete: slot.gate.change { $0.removeAll() }
        default: break
        }
        let rules = slot.gate.rules
        return .json(.ok, ["rules": .array(rules.rules.map(\.json)), "fault": .string(rules.fault.description)])
    }

    private func rule(_ request: ControlRequest, _ slot: SimulatedUpstreams.Slot) throws(ControlProblem)
        -> UpstreamResponse
    {
        try request.require(.get, .delete)
        let rules = slot.gate.rules.rules
        guard let rule = rules.first(where: { String($0.id) == request.path[3] }),
            request.method != .delete || slot.gate.change({ $0.remove(rule.id) })
        else {
            throw .notFound(
                "\(slot.upstream.name) has no rule '\(request.path[3])'.",
                field: "rule",
                accepted: rules.map { String($0.id) }
            )
        }
        return .json(.ok, rule.json)
    }
}
