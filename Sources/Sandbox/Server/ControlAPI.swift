import HTTPTypes

/// The sandbox's own API, for tests and demonstrations. Its index is ``ControlIndex``.
struct ControlAPI: Sendable {
    /// First segment of its paths.
    static let prefix = "_sandbox"

    let stage: SimulatedUpstreams
    let clock: any Clock<Duration>
    /// The server that is tested, in the same process.
    var harness: (any HarnessedServer)?

    /// - Throws: only `CancellationError`, if the sandbox stops while a request waits.
    func respond(to request: ControlRequest) async throws -> UpstreamResponse {
        do {
            try request.requireLoopback()
            harness?.noteUse()
            return try await route(request)
        } catch let problem as ControlProblem {
            return problem.response
        }
    }

    private func route(_ request: ControlRequest) async throws -> UpstreamResponse {
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
        case ("upstreams", 1):
            return try addStub(request)
        case ("upstreams", 2):
            return try removeStub(request)
        case ("upstreams", 3...4):
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
                accepted: stage.slots.map { $0.upstream.name }
            )
        }
        return slot
    }
}
