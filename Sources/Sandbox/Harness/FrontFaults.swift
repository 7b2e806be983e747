import HTTPTypes

/// What is wrong with the server that is tested, as its clients see it.
package final class FrontFaults: Sendable {
    let gate = FaultGate()

    /// Creates a server without faults.
    package init() {}

    /// Removes all faults, and releases every held request.
    package func reset() { gate.reset() }

    /// Counts a request and decides what happens to it; nil if nothing does.
    func admit(_ head: HTTPRequest) -> Admission? {
        let rules = gate.rules
        guard rules.fault != .online || !rules.rules.isEmpty else { return nil }
        let request = FrontRoute.request(head)
        guard !FrontRoute.isControl(request), rules.names(request) else { return nil }
        let admission = gate.admit(request, override: nil)
        return admission.plan == .online ? nil : admission
    }

    /// Decides what happens to a request that was held and is released: the rest of its faults, or what is set for it
    /// by then. Nothing is held twice.
    func readmit(_ admission: Admission, _ head: HTTPRequest) -> Admission {
        guard admission.plan.faults.count == 1 else { return gate.readmit(admission) }
        let next = gate.admit(FrontRoute.request(head), override: nil)
        return next.decision.isHeld ? Admission(plan: .online, decision: .response) : next
    }
}

extension RuleSet {
    /// Whether faults are meant for a request: a preflight of a browser only if a rule names its method.
    fileprivate func names(_ request: MatchedRequest) -> Bool {
        guard request.method == "OPTIONS" else { return true }
        return rules.contains { $0.definition.match.method == request.method && $0.definition.match.matches(request) }
    }
}

/// Routes as the controls name them: `/v1/ships`, `GET /v1/ships/{id}`, `/v1/notes/**`.
enum FrontRoute {
    /// The first segments of controls that the server passes on.
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

    /// Whether a request is for controls.
    static func isControl(_ request: MatchedRequest) -> Bool {
        request.path.count > 1 && request.path[0] == "v1" && controls.contains(request.path[1])
    }
}
