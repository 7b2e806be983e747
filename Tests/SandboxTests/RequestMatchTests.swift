import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct RequestMatchTests {
    private static let request = MatchedRequest(
        method: "POST",
        path: ["v4", "ships", "70ca"],
        query: [.init(name: "limit", value: "3"), .init(name: "limit", value: "4"), .init(name: "empty", value: "")],
        headers: [.accept: "application/json"],
        body: Array(#"{"query":{"a":1.0,"b":[1]},"text":"нет"}"#.utf8)
    )

    @Test(
        "HARN-09 a match takes requests by every part that it names, and its text form reads back",
        arguments: [
            ("{}", true), (#"{"method":"POST"}"#, true), (#"{"method":"post"}"#, true),
            (#"{"path":"/v4"}"#, true), (#"{"path":"/v4/ships/*"}"#, true), (#"{"path":"/v4/ship"}"#, false),
            (#"{"path":"/v4/ships/70ca/x"}"#, false), (#"{"path":"/"}"#, true),
            (#"{"query":{"limit":"4"}}"#, true), (#"{"query":{"limit":"5"}}"#, false),
            (#"{"query":{"empty":true,"none":false}}"#, true), (#"{"query":{"empty":false}}"#, false),
            (#"{"header":{"Accept":"application/json"}}"#, true), (#"{"header":{"accept":"text/html"}}"#, false),
            (#"{"header":{"cookie":false}}"#, true), (#"{"header":{"cookie":true}}"#, false),
            (#"{"body":"нет"}"#, true), (#"{"body":"да"}"#, false), (#"{"body":{"query":{"a":1}}}"#, true),
            (#"{"body":{"query":{"a":2}}}"#, false), (#"{"body":{"query":{"b":[1]},"text":"нет"}}"#, true),
            (#"{"body":{"none":null}}"#, false), (#"{"method":"POST","path":"/v5"}"#, false),
            (#"{"query":{"limit":"3","empty":""},"exact_query":true}"#, false), (#"{"exact_query":true}"#, false),
            (#"{"query":{"limit":true,"empty":""},"exact_query":true}"#, true),
            (#"{"body":{"text":"нет"},"exact_body":true}"#, false), (#"{"body":"нет","exact_body":true}"#, false),
            (#"{"body":{"text":"нет","query":{"b":[1],"a":1}},"exact_body":true}"#, true),
        ]
    )
    func matches(text: String, expected: Bool) throws {
        let match = try RequestMatch(try JSONParser.parse(Array(text.utf8)))
        #expect(match.matches(Self.request) == expected)
        #expect(try RequestMatch(match.json) == match)
    }

    @Test("a body that is not JSON has no members")
    func notJSON() throws {
        let match = RequestMatch(body: .json(.object(JSONObject(members: []))))
        #expect(match.matches(Self.request))
        #expect(!match.matches(MatchedRequest(method: "POST", path: [], body: Array("{".utf8))))
    }

    @Test("A pattern is one by itself, matches whole texts, and a text that takes it too long does not match")
    func patterns() throws {
        #expect(TextPattern("a)|(?:b") == nil && TextPattern("a|b")?.matches("ab") == false)
        let nested = try #require(TextPattern("(a+)+b"))
        #expect(nested.matches("aab"))
        let begin = ContinuousClock.now
        #expect(!nested.matches(String(repeating: "a", count: 60)))
        #expect(ContinuousClock.now - begin < .seconds(30))
    }

    @Test(
        "HARN-34 a pattern tells the segments with which its paths begin",
        arguments: [
            ("/v1/ships/[0-9]+", ["v1", "ships"], false), ("/v1/ships?/x", ["v1"], false), ("/v1/a/?b", ["v1"], false),
            ("/v1/ships", ["v1", "ships"], true), ("/v1/a|/v1/b", [], false), (".*", [], false),
        ]
    )
    func beginning(pattern: String, segments: [String], isWhole: Bool) throws {
        let beginning = try #require(TextPattern(pattern)).beginningOfPath
        #expect(beginning.segments == segments && beginning.isWhole == isWhole)
    }
}
