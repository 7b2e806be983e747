import Foundation
import HTTPTypes
import JSONValues

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

    /// - Throws: ``ControlProblem``; `CancellationError` if the sandbox stops while a request waits.
    func respond(to request: ControlRequest) async throws -> UpstreamResponse {
        // Reading the state changes nothing.
        if !request.path.isEmpty, request.path != ["clock"] || request.method != .get { server.activate() }
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
        case "journal/wait": return try await journalCalls.wait(request)
        case "front/fault": return try await frontFault(request)
        case "front/release": return try releaseFront(request)
        case "seed": return try await seed(request)
        case "verify": return try verify(request)
        case "verify/recordings": return try verifyRecordings(request)
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
        try await reporting { try await server.reset { [stage] in stage.reset() } }
        return UpstreamResponse(status: .noContent)
    }
}

// The clock.
extension HarnessAPI {
    /// Longest step of the clock, in seconds: ten years.
    private static let longestStep = 315_360_000

    private var clockState: JSONValue {
        [
            "now": .string(server.now.formatted(ControlFields.timeForm)), "frozen": .bool(server.isFrozen),
            "shifted": .bool(server.isShifted),
        ]
    }

    private func setClock(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.get, .put, .delete)
        if request.method == .delete {
            try request.requireNoMembers()
            try await reporting(server.followRealTime)
        }
        if request.method == .put {
            let fields = try ControlFields(request.json())
            try fields.require(only: "now", "frozen")
            let (time, frozen) = (try fields.time("now"), try fields.flag("frozen"))
            guard time != nil || frozen != nil else {
                throw ControlProblem.invalid(field: "body", value: "{}", accepted: ["now", "frozen"])
            }
            guard await server.setClock(time, frozen: frozen) else {
                throw ControlProblem.conflict(
                    "The clock goes back only with DELETE /\(Self.prefix)/clock and POST /\(Self.prefix)/reset."
                )
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

// Recordings of the server's upstreams.
extension HarnessAPI {
    func listFixtures(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get)
        _ = try request.parameters()
        return .json(.ok, ["upstreams": .array(server.fixtures.upstreams.map { .object($0.summary) })])
    }

    /// Responds with 417 if a request had no recording, or a recording that is older than the request allows.
    func verifyRecordings(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.post)
        _ = try request.parameters()
        let fields = request.body.isEmpty ? nil : try ControlFields(request.json())
        try fields?.require(only: "oldest_days")
        let days = try fields?.integer("oldest_days", in: 0...36_500)
        var (unmatched, old): ([JSONValue], [JSONValue]) = ([], [])
        for fixtures in server.fixtures.upstreams {
            let lapses = fixtures.lapses(oldestDays: days)
            let named = { (value: JSONValue) -> JSONValue in
                var object: JSONObject = ["upstream": .string(fixtures.name)]
                object.members += value.object?.members ?? []
                return .object(object)
            }
            unmatched += lapses.unmatched.map(named)
            old += lapses.old.map(named)
        }
        let isStrict = unmatched.isEmpty && old.isEmpty
        return .json(isStrict ? .ok : .expectationFailed, ["unmatched": .array(unmatched), "old": .array(old)])
    }

    /// Responds to the calls below `upstreams/{name}`.
    func fixtures(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        let known = server.fixtures.upstreams
        guard let fixtures = known.first(where: { $0.name == request.path[1] }) else {
            throw .notFound("There is no upstream '\(request.path[1])'.", field: "name", accepted: known.map(\.name))
        }
        _ = try request.parameters()
        switch Array(request.path.dropFirst(2)) {
        case []:
            try request.require(.get)
            return .json(.ok, .object(fixtures.details))
        case ["mode"]:
            try request.require(.put)
            try setMode(request, fixtures)
            return .json(.ok, .object(fixtures.summary))
        default:
            throw .notFound("There is no /\(Self.prefix)/\(request.path.joined(separator: "/")).")
        }
    }

    private func setMode(_ request: ControlRequest, _ fixtures: UpstreamFixtures) throws(ControlProblem) {
        let fields = try ControlFields(request.json())
        try fields.require(only: "mode")
        let mode = try fields.required("mode", try fields.choice("mode", of: FixtureMode.self))
        do throws(FixtureError) {
            try fixtures.setMode(mode)
        } catch {
            if case .readOnly = error {
                throw .conflict("\(error); record with the server that makes the spaces.")
            }
            throw .conflict("\(mode.rawValue) needs a folder: \(error); set it when Larder starts.")
        }
    }
}

extension ControlProblem {
    static func resetFailed(_ reason: String) -> ControlProblem {
        ControlProblem(
            status: .internalServerError,
            code: "reset-failed",
            title: "Not reset",
            detail: "The state could not be reset: \(reason)."
        )
    }
}

extension ControlRequest {
    /// - Throws: 403 if a page of another site made a browser send it.
    func requireLoopback() throws(ControlProblem) {
        guard let host = authority, LoopbackHost.matches(authority: host) else {
            throw .forbidden(field: "Host", value: authority)
        }
        if let origin = fetchOrigin, !LoopbackHost.matches(origin: origin) {
            throw .forbidden(field: "Origin", value: origin)
        }
    }

    /// - Throws: 400 if the query or the body has any member.
    func requireNoMembers() throws(ControlProblem) {
        _ = try parameters()
        if !body.isEmpty { try ControlFields(try json()).requireNone() }
    }
}

extension ControlFields {
    static let timeForm = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The first second of the year 10000, which RFC 3339 cannot represent: its years have four digits.
    static let endOfTime = Date(timeIntervalSince1970: 253_402_300_800)

    func time(_ name: String) throws(ControlProblem) -> Date? {
        guard let text = try text(name) else { return nil }
        for style in [Self.timeForm, Date.ISO8601FormatStyle()] {
            if let date = try? style.parse(text), date < Self.endOfTime, date >= Self.beginning { return date }
        }
        let accepted = "a time of RFC 3339, of the years 0001 to 9999, such as 2026-01-05T10:00:00Z"
        throw .invalid(field: name, value: String(text.prefix(60)), accepted: [accepted])
    }

    /// The first second of the year 1.
    private static let beginning = Date(timeIntervalSince1970: -62_135_596_800)

    func number(_ name: String, in range: ClosedRange<Double>) throws(ControlProblem) -> Double? {
        guard let value = self[name] else { return nil }
        guard case .number(let spelling) = value, let number = Double(spelling), range.contains(number) else {
            throw refusal(name, value, ["number \(Int(range.lowerBound))…\(Int(range.upperBound))"])
        }
        return number
    }
}
