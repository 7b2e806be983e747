extension Rule.Definition {
    /// Reads `{"match":{…},"fault":… | "faults":[…],"times":2,"after":3}`. A sequence ends with its last fault unless
    /// `times` says otherwise.
    init(_ value: JSONValue) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(only: "match", "fault", "faults", "times", "after")
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
        default:
            throw .invalid(
                field: "fault",
                value: value.excerpt,
                accepted: FaultSyntaxError.accepted,
                reason: "a rule has either fault or faults"
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
    /// The rule with its counts.
    var json: JSONValue {
        let faults: JSONObject.Member =
            definition.isSequence
            ? .init(name: "faults", value: .array(definition.faults.map { .string($0.description) }))
            : .init(name: "fault", value: .string(definition.faults[0].description))
        return .object(
            JSONObject(members: [
                .init(name: "id", value: .integer(id)), .init(name: "match", value: definition.match.json), faults,
                .init(name: "times", value: .integerOrNull(definition.times)),
                .init(name: "after", value: .integer(definition.after)),
                .init(name: "matched", value: .integer(matched)), .init(name: "applied", value: .integer(applied)),
                .init(name: "left", value: .integerOrNull(left)),
            ])
        )
    }
}
