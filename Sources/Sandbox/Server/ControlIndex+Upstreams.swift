extension ControlIndex {
    /// Returns the index: upstreams with their faults, and all calls.
    static func json(of stage: SimulatedUpstreams) -> JSONValue {
        [
            "upstreams": .array(stage.slots.map { $0.status }),
            "faults": .array(FaultSyntaxError.accepted.map { .string($0) }),
            "fault_field": .string("Sandbox-Fault overrides the fault for one request"),
            "calls": .array((common + stage.slots.flatMap { $0.upstream.controls }).map(\.json)),
        ]
    }
}

extension SimulatedUpstreams.Slot {
    /// Fault and number of held requests.
    var status: JSONValue {
        [
            "name": .string(upstream.name.rawValue), "base": .string("/\(upstream.name.rawValue)"),
            "fault": .string(gate.fault.description),
            "waiting": .integer(gate.waiting),
        ]
    }
}
