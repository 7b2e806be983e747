import HTTPTypes
import Testing

@testable import Larder

@Suite struct ScenarioExpectationTests {
    private static func differences(_ yaml: String, _ responses: [ScenarioResponse]) throws -> [String] {
        try ScenarioExpectation(ScenarioNode.root(yaml, file: "a.yaml")).differences(in: responses)
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
