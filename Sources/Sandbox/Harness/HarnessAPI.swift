import Foundation
import HTTPTypes

/// The controls of the server that is tested: `/_harness`, beside those of the simulated upstreams.
struct HarnessAPI: Sendable {
    /// First segment of its paths.
    static let prefix = "_harness"

    let server: any HarnessedServer
    let stage: SimulatedUpstreams
    /// Measures the patience of a wait.
    let clock: any Clock<Duration>

    /// The journal of clients' requests.
    var front: FrontJournal { server.front }

    /// - Throws: only `CancellationError`, if the sandbox stops while a request waits.
    func respond(to request: ControlRequest) async throws -> UpstreamResponse {
        do {
            try request.requireLoopback()
            // Who only looks what there is changes nothing.
            if !request.path.isEmpty { server.activate() }
            server.noteUse()
            return try await route(request)
        } catch let problem as ControlProblem {
            return problem.response
        }
    }

    private func route(_ request: ControlRequest) async throws -> UpstreamResponse {
        if request.path.first == "spaces" { return try await spaces(request) }
        if request.path.first == "snapshots" { return try await snapshots(request) }
        switch request.path.joined(separator: "/") {
        case "":
            try request.require(.get)
            return .json(.ok, ["calls": .array(ControlIndex.ofHarness.map(\.json)), "clock": clockState])
        case "reset": return try await reset(request)
        case "clock": return try await setClock(request)
        case "clock/advance": return try await advance(request)
        case "journal": return try journal(request)
        case "journal/wait": return try await waitForJournal(request)
        case "front/fault": return try frontFault(request)
        case "front/release": return try releaseFront(request)
        case "seed": return try await seed(request)
        case "verify": return try verify(request)
        case "upstreams": return try listFixtures(request)
        case _ where request.path.first == "upstreams": return try fixtures(request)
        default:
            throw ControlProblem.notFound(
                "There is no /\(Self.prefix)/\(request.path.joined(separator: "/")); "
                    + "GET /\(Self.prefix) lists what there is."
            )
        }
    }

    private func reset(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.post)
        try request.requireNoMembers()
        do {
            try await server.reset { [stage] in stage.reset() }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ControlProblem.resetFailed("\(error)")
        }
        return UpstreamResponse(status: .noContent)
    }
}

// The clock.
extension HarnessAPI {
    /// Longest step of the clock, in seconds: ten years.
    private static let longestStep = 315_360_000

    private var clockState: JSONValue {
        ["now": .string(server.now.formatted(ControlFields.timeForm)), "frozen": .bool(server.isFrozen)]
    }

    private func setClock(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.get, .put)
        if request.method == .put {
            let fields = try ControlFields(request.json())
            try fields.require(only: "now", "frozen")
            let (time, frozen) = (try fields.time("now"), try fields.flag("frozen"))
            guard time != nil || frozen != nil else {
                throw ControlProblem.invalid(field: "body", value: "{}", accepted: ["now", "frozen"])
            }
            guard await server.setClock(time, frozen: frozen) else {
                throw ControlProblem.conflict("The clock goes back only with POST /\(Self.prefix)/reset.")
            }
        }
        return .json(.ok, clockState)
    }

    private func advance(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.post)
        let fields = try ControlFields(request.json())
        try fields.require(only: "s")
        let seconds = try fields.required("s", try fields.number("s", in: 0...Double(Self.longestStep)))
        guard server.now.addingTimeInterval(seconds) < ControlFields.endOfTime else {
            throw ControlProblem.conflict("The clock goes no further than the year 9999; it goes back with reset.")
        }
        await server.advanceClock(by: seconds)
        return .json(.ok, clockState)
    }
}
