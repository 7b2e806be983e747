import HTTPTypes

// What is wrong with the server, as its clients see it.
extension HarnessAPI {
    private var gate: FaultGate { server.frontFaults.gate }

    func frontFault(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get, .put, .delete)
        switch request.method {
        case .put:
            _ = try request.parameters()
            try setFrontFault(try request.json())
        case .delete:
            try removeFrontFault(try request.parameters(["route"])["route"])
        default:
            _ = try request.parameters()
        }
        return .json(.ok, frontState)
    }

    func releaseFront(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.post)
        _ = try request.parameters()
        return .json(.ok, ["released": .integer(try ControlAPI.release(request, gate))])
    }

    /// Sets the faults of a route in place of earlier ones, or those of all other routes.
    private func setFrontFault(_ value: JSONValue) throws(ControlProblem) {
        let route = try ControlFields(value).text("route")
        let members = value.object?.members.filter { $0.name != "route" && $0.name != "match" } ?? []
        guard value.object?["match"] == nil else {
            throw .invalid(field: "body", value: "match", accepted: ["route", "fault", "faults", "times", "after"])
        }
        var definition = try Rule.Definition(.object(JSONObject(members: members)))
        guard let route else {
            guard members.count == 1, !definition.isSequence else {
                throw .invalid(
                    field: "route",
                    value: "",
                    accepted: ["a route, or /** for all"],
                    reason: "faults, times and after are of a route"
                )
            }
            return gate.set(definition.faults[0])
        }
        definition.match = try server.served.checked(try FrontRoute.match(route), field: "route", value: route)
        let isSet = gate.change { [definition] rules in
            if let old = rules.rules.first(where: { $0.definition.match == definition.match }) { rules.remove(old.id) }
            return rules.add(definition) != nil
        }
        guard isSet else { throw .conflict("At most \(RuleSet.capacity) routes have faults.") }
    }

    /// Removes the faults of a route, or all with the release of every held request.
    private func removeFrontFault(_ route: String?) throws(ControlProblem) {
        guard let route else { return gate.reset() }
        let match = try FrontRoute.match(route)
        let routes = gate.rules.rules.map { FrontRoute.text($0.definition.match) }
        let isRemoved = gate.change { rules in
            rules.rules.first { $0.definition.match == match }.map { rules.remove($0.id) } ?? false
        }
        guard isRemoved else { throw .notFound("'\(route)' has no fault.", field: "route", accepted: routes) }
    }

    private var frontState: JSONValue {
        let rules = gate.rules
        return [
            "fault": .string(rules.fault.description),
            "routes": .array(rules.rules.map(\.frontJSON)),
            "waiting": .integer(gate.waiting),
        ]
    }
}

extension Rule {
    /// The rule as the faults of a route.
    fileprivate var frontJSON: JSONValue {
        let own: Set = ["id", "match"]
        let members = json.object?.members.filter { !own.contains($0.name) } ?? []
        let route = JSONObject.Member(name: "route", value: .string(FrontRoute.text(definition.match)))
        return .object(JSONObject(members: [route] + members))
    }
}

extension ControlIndex {
    static let front = [
        Line(
            method: "GET",
            path: "/_harness/front/fault",
            purpose: "what is wrong with Larder as its clients see it: the faults of routes with their counts, that of "
                + "all other routes, and how many requests are held"
        ),
        Line(
            method: "PUT",
            path: "/_harness/front/fault",
            purpose: "sets the faults of a route, or without one those of all others; the route that was set first "
                + "decides. fault, or faults in turn; times and after as with rules. Controls are never touched",
            example: #"{"route":"GET /v1/ships","fault":"slow(3000)"}"#
        ),
        Line(
            method: "DELETE",
            path: "/_harness/front/fault?route=",
            purpose: "removes the faults of a route, or all, and releases every held request"
        ),
        Line(
            method: "POST",
            path: "/_harness/front/release",
            purpose: "releases held requests of clients, as with an upstream",
            example: #"{"count":1}"#
        ),
    ]
}
