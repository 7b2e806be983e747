import HTTPTypes
import JSONValues

/// The sandbox's own API, for tests and demonstrations. Its index is ``ControlIndex``.
struct ControlAPI: Sendable {
    /// First segment of its paths.
    static let prefix = "_sandbox"

    let stage: SimulatedUpstreams
    let clock: any Clock<Duration>
    /// The server that is tested, in the same process.
    var harness: (any HarnessedServer)?

    /// - Throws: ``ControlProblem``; `CancellationError` if the sandbox stops while a request waits.
    func respond(to request: ControlRequest) async throws -> UpstreamResponse {
        switch (request.path.first, request.path.count) {
        case (nil, _):
            try request.require(.get)
            return .json(.ok, ControlIndex.json(of: stage))
        case ("openapi.yaml", 1):
            try request.require(.get)
            _ = try request.parameters()
            return ControlContract.response
        case ("reset", 1):
            try request.require(.post)
            try request.requireNoMembers()
            stage.reset()
            harness?.upstreamsWereReset()
            return .json(.ok, ControlIndex.json(of: stage))
        case ("upstreams", 1...2):
            let isNew = request.path.count == 1
            let response = try isNew ? addStub(request) : removeStub(request)
            let name = try isNew ? request.json().object?["name"]?.string : request.path[1]
            if let name { try await harness?.forgetResponses(of: name) }
            return response
        case ("upstreams", 3...4):
            return try faults(request, slot: try slot(named: request.path[1]))
        case ("journal", 1):
            return try journal(request)
        case ("journal", 2) where request.path[1] == "wait":
            return try await journalCalls.wait(request)
        default:
            guard let name = request.path.first, let slot = stage.slot(named: name) else {
                throw ControlProblem.nothing(at: request.path)
            }
            var below = request
            below.path.removeFirst()
            return try slot.upstream.control(below)
        }
    }

    private func slot(named name: String) throws(ControlProblem) -> SimulatedUpstreams.Slot {
        guard let slot = stage.slot(named: name) else {
            throw .notFound(
                "There is no upstream '\(name)'.",
                field: "name",
                accepted: stage.slots.map { $0.upstream.name }
            )
        }
        return slot
    }

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

    /// Releases the requests that the body selects: all (no body, or `{}`), the longest held (a count), or one (a
    /// sequence).
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

    private var journalCalls: JournalCalls {
        JournalCalls(journal: stage.journal, isFront: false, clock: clock) { (parameters) throws(ControlProblem) in
            try filter(parameters)
        }
    }

    func journal(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get, .delete)
        guard request.method == .delete else { return try journalCalls.list(request) }
        _ = try request.parameters()
        stage.journal.clear()
        for slot in stage.slots { slot.gate.forgetSequences() }
        return .json(.ok, ["entries": [], "count": 0, "dropped": 0])
    }

    /// Returns a filter for the requests that a client's request to a route has caused; nil if the query names no
    /// route.
    private func cause(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter.Cause? {
        guard let text = parameters["route"], !text.isEmpty else { return nil }
        guard let harness else {
            throw .invalid(field: "route", value: text, accepted: ["nothing: this sandbox has no server"])
        }
        return try FrontRoute.match(in: parameters, of: harness.served).map {
            JournalFilter.Cause(route: $0, journal: harness.front.journal)
        }
    }

    private func filter(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter {
        var filter = try JournalQuery.filter(parameters)
        filter.cause = try cause(parameters)
        if let upstream = filter.upstream, stage.slot(named: upstream) == nil {
            throw .invalid(field: "upstream", value: upstream, accepted: stage.slots.map { $0.upstream.name })
        }
        return filter
    }
}
