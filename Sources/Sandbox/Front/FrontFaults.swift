import HTTPTypes
import JSONValues
import NIOCore

/// The faults of the server that is tested, as its clients see them.
package final class FrontFaults: Sendable {
    let gate: FaultGate
    let streams = FrontStreams()

    /// - Parameter condition: The condition under which the server starts; nil for none.
    package init(_ condition: HarnessCondition? = nil) { gate = FaultGate(condition?.front ?? RuleSet()) }

    /// Removes all faults but those of the start, also of event streams, and releases every held request.
    package func reset() {
        gate.reset()
        _ = streams.set(.online, nil)
    }

    /// Counts a request and decides its faults; nil if it has none.
    func admit(_ head: HTTPRequest) -> Admission? {
        let rules = gate.rules
        guard rules.fault != .online || !rules.rules.isEmpty else { return nil }
        let request = FrontRoute.request(head)
        guard !FrontRoute.isControl(request), rules.names(request) else { return nil }
        let admission = gate.admit(request, override: nil)
        return admission.plan == .online ? nil : admission
    }

    /// Decides the faults of a held request that is released: the rest of its own faults, or the faults that have been
    /// set meanwhile. No request is held twice.
    func readmit(_ admission: Admission, _ head: HTTPRequest) -> Admission {
        guard admission.plan.faults.count == 1 else { return gate.readmit(admission) }
        let next = gate.admit(FrontRoute.request(head), override: nil)
        return next.decision.isHeld ? Admission(plan: .online, decision: .response) : next
    }
}

extension RuleSet {
    /// Whether the faults apply to a request. They apply to a preflight of a browser only if a rule names its method.
    fileprivate func names(_ request: MatchedRequest) -> Bool {
        guard request.method == "OPTIONS" else { return true }
        return rules.contains { $0.definition.match.method == request.method && $0.definition.match.matches(request) }
    }
}

/// Routes as the controls name them: `/v1/ships`, `GET /v1/ships/{id}`, `/v1/notes/**`.
enum FrontRoute {
    /// The first segments of controls that the server forwards.
    private static let controls = ["sandbox", "harness"]

    /// - Throws: 400.
    static func match(_ text: String) throws(ControlProblem) -> RequestMatch {
        let words = text.split(separator: " ")
        guard (1...2).contains(words.count), let path = words.last, path.hasPrefix("/"), !path.contains("?") else {
            throw .invalid(
                field: "route",
                value: text,
                accepted: ["/v1/ships", "GET /v1/ships/{id}", "/v1/notes/** (everything below, too)"]
            )
        }
        var segments = RequestTarget(String(path)).segments.map { $0.hasPrefix("{") && $0.hasSuffix("}") ? "*" : $0 }
        let isWhole = segments.last != "**"
        if !isWhole { segments.removeLast() }
        let method = try words.count == 2 ? RequestMatch.method(String(words[0])) : nil
        return RequestMatch(method: method, path: segments, isWhole: isWhole)
    }

    /// Reads the query parameter `route`; nil if there is none.
    static func match(in parameters: [String: String], of served: ServedRoutes) throws(ControlProblem) -> RequestMatch?
    {
        guard let text = parameters["route"], !text.isEmpty else { return nil }
        return try served.checked(try match(text), field: "route", value: text)
    }

    static func text(_ match: RequestMatch) -> String {
        let path = "/" + (match.path + (match.isWhole ? [] : ["**"])).joined(separator: "/")
        return match.method.map { "\($0) \(path)" } ?? path
    }

    static func request(_ head: HTTPRequest) -> MatchedRequest {
        let target = RequestTarget(head.path ?? "/")
        return MatchedRequest(
            method: head.method.rawValue,
            path: target.segments,
            query: target.query,
            headers: head.headerFields
        )
    }

    static func isControl(_ request: MatchedRequest) -> Bool {
        request.path.count > 1 && request.path[0] == "v1" && controls.contains(request.path[1])
    }
}

/// The faults of one request to the server that is tested.
struct FrontFault: Sendable {
    let faults: FrontFaults
    let head: HTTPRequest
    let admission: Admission
    /// Of a request that is held.
    let ticket: FaultGate.Ticket?
}

// The faults of the server, as its clients see them.
extension HarnessAPI {
    private var gate: FaultGate { server.frontFaults.gate }

    func frontFault(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.get, .put, .delete)
        switch request.method {
        case .put:
            _ = try request.parameters()
            for channel in try setFrontFault(try request.json()) { _ = await channel.reset() }
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

    /// Sets the faults of a route in place of earlier ones. Without a route, sets those of all routes that have none.
    ///
    /// - Returns: The connections of event streams that the faults end.
    private func setFrontFault(_ value: JSONValue) throws(ControlProblem) -> [any Channel] {
        let route = try ControlFields(value).text("route")
        let members = value.object?.members.filter { $0.name != "route" && $0.name != "match" } ?? []
        guard value.object?["match"] == nil else {
            throw .invalid(field: "body", value: "match", accepted: ["route", "fault", "faults", "times", "after"])
        }
        var definition = try Rule.Definition(.object(JSONObject(members: members)))
        guard definition.respond == nil else {
            throw .invalid(field: "body", value: "respond", accepted: ["route", "fault", "faults", "times", "after"])
        }
        guard let route else {
            guard members.count == 1, !definition.isSequence else {
                throw .invalid(
                    field: "route",
                    value: "",
                    accepted: ["a route, or /** for all"],
                    reason: "faults, times and after are of a route"
                )
            }
            gate.set(definition.faults[0])
            return server.frontFaults.streams.set(definition.faults[0], nil)
        }
        definition.match = try server.served.checked(try FrontRoute.match(route), field: "route", value: route)
        let isSet = gate.change { [definition] rules in
            if let old = rules.rules.first(where: { $0.definition.match == definition.match }) { rules.remove(old.id) }
            return rules.add(definition) != nil
        }
        guard isSet else { throw .conflict("At most \(RuleSet.capacity) routes have faults.") }
        // Counted faults apply to requests, and the request of an open stream was made before.
        let isCounted = definition.times != nil || definition.after > 0
        return server.frontFaults.streams.set(isCounted ? .online : definition.faults[0], definition.match)
    }

    /// Removes the faults of a route, or all with the release of every held request.
    private func removeFrontFault(_ route: String?) throws(ControlProblem) {
        guard let route else { return server.frontFaults.reset() }
        let match = try FrontRoute.match(route)
        let routes = gate.rules.rules.map { FrontRoute.text($0.definition.match) }
        let isRemoved = gate.change { rules in
            rules.rules.first { $0.definition.match == match }.map { rules.remove($0.id) } ?? false
        }
        guard isRemoved else { throw .notFound("'\(route)' has no fault.", field: "route", accepted: routes) }
        _ = server.frontFaults.streams.set(.online, match)
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
        var object: JSONObject = ["route": .string(FrontRoute.text(definition.match))]
        object.members += json.object?.members.filter { !["id", "match"].contains($0.name) } ?? []
        return .object(object)
    }
}
