import HTTPTypes

/// The sandbox's own API, for tests and demonstrations. Its index is ``ControlIndex``.
struct ControlAPI: Sendable {
    /// First segment of its paths.
    static let prefix = "_sandbox"

    let stage: SimulatedUpstreams
    let clock: any Clock<Duration>

    /// - Throws: only `CancellationError`, if the sandbox stops while a request waits.
    func respond(to request: ControlRequest) async throws -> UpstreamResponse {
        do {
            try guardHost(of: request)
            return try await route(request)
        } catch let problem as ControlProblem {
            return problem.response
        }
    }

    private func guardHost(of request: ControlRequest) throws(ControlProblem) {
        guard let host = request.authority, LoopbackHost.matches(authority: host) else {
            throw .forbidden(field: "Host", value: request.authority)
        }
        if let origin = request.fetchOrigin, !LoopbackHost.matches(origin: origin) {
            throw .forbidden(field: "Origin", value: origin)
        }
    }

    private func route(_ request: ControlRequest) async throws -> UpstreamResponse {
        switch (request.path.first, request.path.count) {
        case (nil, _):
            try request.require(.get)
            return .json(.ok, ControlIndex.json(of: stage))
        case ("openapi.yaml", 1), ("openapi.json", 1):
            try request.require(.get)
            // YAML 1.2 includes JSON.
            let type = request.path[0].hasSuffix("yaml") ? "yaml" : "json"
            let contract = ControlContract(calls: ControlIndex.lines(of: stage)).json
            return .json(.ok, contract, type: "application/\(type); charset=utf-8")
        case ("reset", 1):
            try request.require(.post)
            stage.reset()
            return .json(.ok, ControlIndex.json(of: stage))
        case ("upstreams", 3):
            return try faults(request, slot: try slot(named: request.path[1]))
        case ("journal", 1):
            return try journal(request)
        case ("journal", 2) where request.path[1] == "wait":
            return try await waitForJournal(request)
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
                accepted: stage.slots.map { $0.upstream.name.rawValue }
            )
        }
        return slot
    }

    private func faults(_ request: ControlRequest, slot: SimulatedUpstreams.Slot) throws(ControlProblem)
        -> UpstreamResponse
    {
        switch request.path[2] {
        case "fault":
            try request.require(.get, .put)
            if request.method == .put { slot.gate.set(try Self.fault(in: request)) }
            return .json(.ok, slot.status)
        case "release":
            try request.require(.post)
            return .json(.ok, ["released": .integer(slot.gate.release())])
        default: throw .nothing(at: request.path)
        }
    }

    private static func fault(in request: ControlRequest) throws(ControlProblem) -> Fault {
        let body = try request.json()
        guard let members = body.object?.members, members.count == 1, members[0].name == "fault",
            let text = members[0].value.string
        else {
            throw .invalid(
                field: "fault",
                value: String(decoding: request.body.prefix(60), as: UTF8.self),
                accepted: FaultSyntaxError.accepted,
                reason: #"the body is {"fault":"…"}"#
            )
        }
        do {
            return try Fault(parsing: text)
        } catch {
            throw .fault(error, field: "fault")
        }
    }
}
