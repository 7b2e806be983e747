import HTTPTypes
import JSONValues
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
        let body: JSONValue = ["mode": "guest", "at": "2030-01-05", "n": 7, "no": .null]
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
                    .init(method: .put, target: "/_sandbox/upstreams/spacex/fault", body: ["fault": "offline"]),
                    .init(method: .put, target: "/_sandbox/upstreams/catalogue/fault", body: ["fault": faults]),
                ]),
                .controls([.init(method: .post, target: "/_harness/clock/advance", body: ["s": 61])]),
                .controls([.init(method: .post, target: "/_harness/reset")]),
                .controls([
                    .init(method: .put, target: "/_sandbox/catalogue/products/1", body: ["price": .number("10.5")])
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

@Suite struct ScenarioExpectationTests {
    private static func differences(_ yaml: String, _ responses: [ScenarioResponse]) throws -> [String] {
        try ScenarioExpectation(try #require(try YAMLText.root(of: yaml))).differences(in: responses)
    }

    private static let response = ScenarioResponse(
        status: 200,
        headers: [.cacheControl: "private, no-cache"],
        body: Array(#"{"data":{"items":[{"id":7,"name":"A/B"}]},"meta":{"stale":true}}"#.utf8)
    )

    @Test(
        "What is as expected has no difference",
        arguments: [
            "{status: 200}", "{statuses: {200: 1}}", "{statuses: {200: 1, 500: 0}}",
            "{headers: {Cache-Control: private}}",
            "{json: {/data/items/0/id: 7, /meta/stale: true, /data/items/0/name: A/B}}",
            "{json: {/meta: {stale: true}}}",
        ]
    )
    func none(yaml: String) throws {
        #expect(try Self.differences(yaml, [Self.response]).isEmpty)
    }

    @Test(
        "Each difference is a line that says what was expected and what was there",
        arguments: [
            ("{status: 503}", "status: expected 503, was 200 {\"data\""),
            ("{statuses: {200: 2}}", "statuses: expected 200: 2, were 200: 1"),
            ("{headers: {X-None: a}}", "X-None: expected 'a' in it, was none"),
            ("{json: {/meta/stale: false}}", "/meta/stale: expected false, was true"),
            ("{json: {/meta/stale: \"true\"}}", "/meta/stale: expected \"true\", was true"),
            ("{json: {/data/items/1: null}}", "/data/items/1: expected null, was nothing"),
        ]
    )
    func some(yaml: String, expected: String) throws {
        let lines = try Self.differences(yaml, [Self.response])
        #expect(lines.count == 1 && lines[0].hasPrefix(expected), "\(lines)")
    }

    @Test("Without a request there is nothing to expect of")
    func noRequest() throws {
        #expect(try Self.differences("{status: 200}", []) == ["no request was sent before"])
        #expect(try Self.differences("{requests: {match: {}}}", []).isEmpty)
    }
}

@Suite struct ScenarioReportJUnitTests {
    @Test("HARN-26 A report has a case for each step, and of texts only what XML 1.0 allows")
    func report() throws {
        let yaml = "name: <a> & \"b\"\nsteps:\n" + String(repeating: "  - do: {reset: true}\n", count: 3)
        let scenario = try Scenario(yaml: yaml, file: "a&b.yaml")
        var report = ScenarioReport(scenario: scenario)
        report.outcomes = [
            .init(step: scenario.steps[0], duration: .milliseconds(1_007)),
            .init(step: scenario.steps[1], duration: .zero, failure: .init("was <\u{1}>", "\u{FFFF} & more")),
        ]
        let step = #"  <testcase classname="a&amp;b.yaml" name="step"#
        let lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites>",
            #"<testsuite name="&lt;a&gt; &amp; &quot;b&quot;" tests="3" failures="1" skipped="1" time="1.007">"#,
            step + #" 1: POST /_harness/reset" line="3" time="1.007"></testcase>"#,
            step + #" 2: POST /_harness/reset" line="4" time="0.000">"#
                + "<failure message=\"was &lt;\u{FFFD}&gt;\">was &lt;\u{FFFD}&gt;",
            "\u{FFFD} &amp; more</failure></testcase>",
            step + #" 3: POST /_harness/reset" line="5"><skipped/></testcase>"#, "</testsuite>", "</testsuites>", "",
        ]
        #expect(ScenarioReport.junit([report]) == lines.joined(separator: "\n"))
        #expect(report.hasFailed && report.text.contains("FAIL step 2, line 4: POST /_harness/reset"))
        #expect(report.text.hasSuffix("  1 step not run\n"))
    }
}
