import JSONValues
import Sandbox
import Testing

@testable import Larder

/// Scenarios that are made of journals.
@Suite struct ScenarioJournalTests {
    private static func entry(_ number: Int, _ line: String, at second: Int, _ more: JSONObject = JSONObject())
        -> JSONValue
    {
        let words = line.split(separator: " ").map { JSONValue.string(String($0)) }
        var entry = JSONObject([
            ("sequence", .integer(number)), ("at", .string("2030-01-05T10:00:0\(second).000Z")), ("method", words[0]),
            ("path", words[1]), ("headers", .object(JSONObject())), ("status", 200), ("duration_ms", 7), ("fault", ""),
        ])
        for member in more.members { entry[member.name] = member.value }
        return .object(entry)
    }

    private static func journal(_ entries: JSONValue...) -> JSONObject { journal(entries) }

    private static func journal(_ entries: [JSONValue]) -> JSONObject {
        JSONObject([("entries", .array(entries)), ("dropped", 0)])
    }

    @Test("A session is repeated: logins, bodies, times, statuses, and the faults of each route in turn")
    func session() throws {
        let signed = JSONObject([("headers", ["authorization": "sha256:0123456789ab", "host": "h", "prefer": "x"])])
        let front = Self.journal(
            Self.entry(
                1,
                "POST /v1/ships/session",
                at: 0,
                JSONObject([("status", 201), ("body", ["bytes": 16, "text": #"{"mode":"guest"}"#])])
            ),
            Self.entry(2, "GET /v1/ships", at: 0, signed),
            Self.entry(3, "GET /v1/ships?refresh=1", at: 5, signed)
        )
        let caused = { (number: Int, fault: String) in
            JSONObject([("upstream", "spacex"), ("cause", .integer(number)), ("fault", .string(fault))])
        }
        let upstreams = Self.journal(
            Self.entry(1, "GET /spacex/v4/ships", at: 0, caused(2, "online")),
            Self.entry(2, "GET /spacex/v4/ships", at: 5, caused(3, "hold"))
        )
        let made = ScenarioJournal(front: front, upstreams: upstreams)
        #expect(made.lacks.isEmpty)
        let text = try made.text
        let expected = """
            steps:
              - do:
                  control: POST /_sandbox/upstreams/spacex/rules
                  body: {match: {route: GET /v4/ships}, faults: [online, slow(7)]}
              - do: {request: POST /v1/ships/session, body: {mode: guest}, save: {token1: /data/token}}
              - expect: {status: 201}
              - do: {request: GET /v1/ships, headers: {prefer: x}, token: "{{token1}}"}
              - expect: {status: 200}
              - do: {advance: 5}
              - do: {request: "GET /v1/ships?refresh=1", headers: {prefer: x}, token: "{{token1}}"}
              - expect: {status: 200}
              - expect: {requests: [{upstream: spacex, match: {route: GET /v4/ships}, exactly: 2}]}
            """
        let (read, wanted) = (
            try Scenario(yaml: text, file: "a.yaml"), try Scenario(yaml: expected, file: "a.yaml")
        )
        #expect(read.steps.map(\.action) == wanted.steps.map(\.action), "\(text)")
    }

    @Test("A fault that all requests of an upstream had is its own; parts that cannot be repeated are named")
    func lacks() throws {
        let front = Self.journal(
            Self.entry(1, "GET /v1/events", at: 0),
            Self.entry(2, "GET /v1/notes", at: 0, JSONObject([("headers", ["cookie": "sha256:0123456789ab"])])),
            Self.entry(3, "PUT /v1/notes/n1", at: 0, JSONObject([("body", ["bytes": 1, "base64": "AA=="])]))
        )
        let probe = JSONObject([("upstream", "people"), ("cause", "probe"), ("fault", "flaky(0.5, 1)")])
        let upstreams = Self.journal(Self.entry(1, "GET /people/api/a", at: 0, probe))
        let made = ScenarioJournal(front: front, upstreams: upstreams)
        #expect(
            made.lacks == [
                "#1 GET /v1/events: an event stream",
                "#2 GET /v1/notes: the login of its session is not in the journal",
                "#3 PUT /v1/notes/n1: its body is no JSON, or not known",
            ]
        )
        #expect(made.steps.first == ["do": ["fault": ["people": "flaky(0.5, 1)"]]] && made.steps.count == 3)
        #expect(try made.text.hasPrefix("# #1 GET /v1/events: an event stream\n"))
    }

    @Test("HARN-40 parts of seconds between requests add up: the last request is as late as it was")
    func times() throws {
        let entries = (0..<9).map { number in
            Self.entry(
                number + 1,
                "GET /v1/ships/launch",
                at: 0,
                JSONObject([("at", .string("2030-01-05T10:00:0\(number * 9 / 10).\(number * 9 % 10)00Z"))])
            )
        }
        let made = ScenarioJournal(front: Self.journal(entries), upstreams: Self.journal())
        let advanced = made.steps.compactMap { $0.value(at: "/do/advance")?.int }
        #expect(advanced.count == 7 && advanced.reduce(0, +) == 7, "\(advanced)")
    }

    @Test("HARN-40 a request that is not repeated has no part in counts, nor a turn of the faults")
    func skipped() throws {
        let binary = JSONObject([("body", ["bytes": 1, "base64": "AA=="]), ("fault", "error(500)")])
        let front = Self.journal(
            Self.entry(1, "POST /v1/notes", at: 0, binary),
            Self.entry(2, "POST /v1/notes", at: 3, JSONObject([("fault", "online")])),
            Self.entry(3, "GET /v1/ships", at: 3)
        )
        let caused = { (number: Int, fault: String) in
            JSONObject([("upstream", "spacex"), ("cause", .integer(number)), ("fault", .string(fault))])
        }
        let upstreams = Self.journal(
            Self.entry(1, "GET /spacex/v4/ships", at: 0, caused(1, "error(503)")),
            Self.entry(2, "GET /spacex/v4/ships", at: 3, caused(3, "online"))
        )
        let made = ScenarioJournal(front: front, upstreams: upstreams)
        #expect(made.lacks == ["#1 POST /v1/notes: its body is no JSON, or not known"])
        // No rule for the upstream, no fault of the front.
        #expect(made.steps.first == ["do": ["advance": 3]] && made.steps.count == 6, "\(made.steps)")
        #expect(made.steps.last?.value(at: "/expect/requests/0/exactly")?.int == 1)
    }

    @Test("HARN-40 hidden secrets are named, and requests that wait or that a run would fill in are left out")
    func named() throws {
        let body = { (text: String) in JSONObject([("body", ["bytes": 1, "text": .string(text)])]) }
        let fields: JSONValue = [
            "content-encoding": "gzip", "content-digest": "sha-256=:AA==:", "expect": "100-continue", "te": "trailers",
        ]
        let front = Self.journal(
            Self.entry(1, "POST /v1/notes", at: 0, body(#"{"body":"{{name}}"}"#)),
            Self.entry(2, "POST /v1/notes/session", at: 0, body(#"{"password":"sha256:0123456789ab"}"#)),
            Self.entry(3, "GET /v1/ships", at: 0, JSONObject([("status", .null)])),
            Self.entry(4, "GET /v1/ships", at: 0, JSONObject([("status", .null), ("fault", "offline")])),
            Self.entry(5, "GET /v1/ships", at: 0, JSONObject([("headers", fields)]))
        )
        let made = ScenarioJournal(front: front, upstreams: Self.journal())
        #expect(
            made.lacks == [
                "#1 POST /v1/notes: it has {{…}} in it",
                "#2 POST /v1/notes/session: the journal hides a secret of it, and sha256:… is sent in its place",
                "#3 GET /v1/ships: it had no response yet",
            ]
        )
        #expect(made.steps.last == ["expect": ["status": 200]])
        #expect(made.steps.dropLast().last == ["do": ["request": "GET /v1/ships"]])
        #expect(made.steps.dropLast(2).last == ["expect": ["status": 0]])
    }

    @Test("HARN-40 a path that is no route gets no fault, which the server would refuse")
    func routes() throws {
        let contract: JSONValue = [
            "paths": ["/v1/notes/{id}": ["get": [:]], "/v1/upstreams/{name}/{path}": ["get": [:]]]
        ]
        let routes = ServedRoutes(contract: contract)
        #expect(routes.serves("GET", "/v1/notes/n1") && routes.serves("HEAD", "/v1/notes/n1"))
        #expect(!routes.serves("GET", "/v1/notes") && !routes.serves("PUT", "/v1/notes/n1"))
        #expect(routes.serves("POST", "/v1/upstreams/spacex/v4/ships"))
        let fault = JSONObject([("fault", "error(500)"), ("status", 500)])
        let front = Self.journal(
            Self.entry(1, "GET /v1/notes/n1", at: 0, fault),
            Self.entry(2, "GET /v1/nothing", at: 0, fault)
        )
        let made = ScenarioJournal(front: front, upstreams: Self.journal(), routes: routes)
        #expect(made.lacks == ["GET /v1/nothing: its fault, since there is no such route"])
        #expect(made.steps.first?.value(at: "/do/body/route") == "GET /v1/notes/n1" && made.steps.count == 5)
    }
}
