import HTTPTypes
import Sandbox
import Testing

@testable import Larder

@Suite struct ScenarioReadingTests {
    private static func actions(_ steps: String) throws -> [Scenario.Action] {
        try Scenario(yaml: "steps:\n" + steps, file: "a.yaml").steps.map(\.action)
    }

    /// A few lines that stand for 10^9 values.
    private static let bomb =
        (1...9).reduce("l0: &l0 [a]\n") { text, level in
            text + "l\(level): &l\(level) [\(Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ","))]\n"
        }

    private static let deep = String(repeating: "[", count: 100_000)

    @Test("Steps are read with their lines; a time is a text, a number a number")
    func steps() throws {
        let yaml = """
            name: an outage
            steps:
              - do: {request: POST /v1/ships/session, body: {mode: guest, at: 2030-01-05, n: 7, no: null},
                   save: {t: /data/token}}
              - do: {request: GET /v1/ships?limit=2, token: "{{t}}", times: 16, parallel: 8}
              - expect: {status: 200, json: {/meta/offline: false}}
            """
        let scenario = try Scenario(yaml: yaml, file: "a.yaml")
        #expect(scenario.name == "an outage" && scenario.steps.map(\.line) == [3, 5, 6])
        let body: JSONValue = ["mode": "guest", "at": "2030-01-05", "n": 7, "no": nil]
        let login = Scenario.Call(method: .post, target: "/v1/ships/session", body: body, saved: ["t": "/data/token"])
        #expect(scenario.steps[0].action == .request(login))
        guard case .request(let call) = scenario.steps[1].action else {
            Issue.record("no request")
            return
        }
        #expect(call.headers == ["Authorization": "Bearer {{t}}"] && call.times == 16 && call.parallel == 8)
        guard case .expect(let expectation) = scenario.steps[2].action else {
            Issue.record("no expectation")
            return
        }
        #expect(expectation.status == 200 && expectation.json == ["/meta/offline": .bool(false)])
    }

    @Test("Faults and the clock are calls of their controls")
    func controls() throws {
        let actions = try Self.actions(
            """
              - do: {fault: {spacex: offline, catalogue: [slow(20), error(503)]}}
              - do: {advance: 61}
              - do: {reset: true}
              - do: {control: PUT /_sandbox/catalogue/products/1, body: {price: 10.5}}
            """
        )
        let faults: JSONValue = ["slow(20)", "error(503)"]
        #expect(
            actions == [
                .controls([
                    .init(
                        method: .put,
                        target: "/_sandbox/upstreams/spacex/fault",
                        body: ["fault": "offline"]
                    ),
                    .init(
                        method: .put,
                        target: "/_sandbox/upstreams/catalogue/fault",
                        body: ["fault": faults]
                    ),
                ]),
                .controls([.init(method: .post, target: "/_harness/clock/advance", body: ["s": 61])]),
                .controls([.init(method: .post, target: "/_harness/reset")]),
                .controls([
                    .init(
                        method: .put,
                        target: "/_sandbox/catalogue/products/1",
                        body: ["price": .number("10.5")]
                    )
                ]),
            ]
        )
    }

    @Test("HARN-25 A step on the third request is a rule that lets two pass")
    func event() throws {
        let actions = try Self.actions(
            """
              - on: {request: GET /v4/ships, nth: 3, upstream: spacex, query: {limit: "2"}}
                do: {fault: offline, times: 1}
              - on: {request: /v4/ships}
                do: {faults: [error(500), online]}
            """
        )
        #expect(actions.count == 2)
        guard case .rule(upstream: "spacex", let third) = actions[0], case .rule(upstream: nil, let all) = actions[1]
        else {
            Issue.record("\(actions)")
            return
        }
        #expect(
            third.json
                == #"{"match":{"method":"GET","path":"/v4/ships","query":{"limit":"2"}},"#
                + #""fault":"offline","times":1,"after":2}"#
        )
        #expect(all.json == #"{"match":{"path":"/v4/ships"},"faults":["error(500)","online"]}"#)
    }

    @Test(
        "A file that is no scenario is refused by its line",
        arguments: [
            ("", 1, "nothing"), ("- 1", 1, "mapping"), ("name: x", 1, "'steps' is missing"), ("steps: 7", 1, "list"),
            ("steps:\n  - doo: {}", 2, "known: on, do, expect"), ("steps:\n  - do: {}", 2, "one of request"),
            ("steps:\n  - do: {request: /v1}", 2, "a method and a path"), ("steps: [", 2, "expected"),
            ("steps: []\nsteps: []", 1, "it has steps twice"),
            (ScenarioReadingTests.deep, 1, "nested deeper than 128"),
            (ScenarioReadingTests.bomb, 5, "its aliases stand for too many values"),
            ("steps:\n  - do: {request: GET /, reset: true}", 2, "one of request"),
            ("steps:\n  - on: {nth: 2}\n    do: {fault: offline}", 2, "'request' is missing"),
            ("steps:\n  - on: {request: /a, nth: 0}\n    do: {fault: offline}", 2, "a number 1…1000000"),
            ("steps:\n  - on: {request: /a}\n    do: {request: GET /}", 3, "known: fault, faults, times"),
            ("steps:\n  - expect: {}", 2, "nothing is expected"),
            ("steps:\n  - expect: {stats: 1}", 2, "known: status"),
        ]
    )
    func refused(yaml: String, line: Int, reason: String) {
        #expect {
            try Scenario(yaml: yaml, file: "a.yaml")
        } throws: { error in
            let error = try #require(error as? ScenarioSyntaxError)
            return error.file == "a.yaml" && error.line == line && error.reason.contains(reason)
        }
    }
}
