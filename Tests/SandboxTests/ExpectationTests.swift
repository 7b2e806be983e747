import Foundation
import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite("What verify expects") struct ExpectationTests {
    private let cleaner = Journal.newCleaner

    private func entry(_ path: String, _ fields: HTTPFields = [:], body: String? = nil, of count: Int? = nil)
        -> JournalEntry
    {
        let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: path, headerFields: fields)
        var entry = JournalEntry(head, upstream: "spacex", at: Date(timeIntervalSince1970: 0), cleaner)
        let bytes = body.map { Array($0.utf8) }
        entry.body = bytes.map { JournalBody($0, of: count ?? $0.count, fields, cleaner) }
        return entry
    }

    private func differences(_ expectation: String, _ entry: JournalEntry) throws -> [String] {
        let expectation = try Expectation(try JSONParser.parse(Array(expectation.utf8))).hidden(by: cleaner)
        return expectation.differences(of: entry).map(\.field)
    }

    @Test(
        "HARN-34 paths match whole, in either spelling, methods in any case, and routes",
        arguments: [
            (#"{"match":{"path":"/v4/ships"},"upstream":"spacex"}"#, true),
            (#"{"match":{"path":"/spacex/v4/ships"},"upstream":"spacex"}"#, true),
            (#"{"match":{"path":"/v4"},"upstream":"spacex"}"#, false),
            (#"{"match":{"path":"/v4/**"},"upstream":"spacex"}"#, true),
            (#"{"match":{"path":"/v4/ships/1"},"upstream":"spacex"}"#, false),
            (#"{"match":{"method":"post"},"upstream":"spacex"}"#, true),
            (#"{"match":{"route":"POST /v4/{kind}"},"upstream":"spacex"}"#, true),
            (#"{"match":{"route":"get /v4/ships"},"upstream":"spacex"}"#, false),
            (#"{"match":{"path_matches":"/v4/.*"},"upstream":"spacex"}"#, true),
            (#"{"match":{"path_matches":"/spacex/v4/.*"},"upstream":"spacex"}"#, true),
            (#"{"match":{"path_matches":"/spacex/v5/.*"},"upstream":"spacex"}"#, false),
            (#"{"match":{"path":"/v4/ships"}}"#, false), (#"{"match":{"path":"/spacex/v4/ships"}}"#, true),
        ]
    )
    func paths(expectation: String, isMatch: Bool) throws {
        #expect(try differences(expectation, entry("/spacex/v4/ships?x=1")).isEmpty == isMatch)
    }

    @Test(
        "HARN-34 what would never match is refused",
        arguments: [
            #"{"match":{"method":"GTE"}}"#, #"{"match":{"path":"v1"}}"#, #"{"match":{"path":"/v1?x=1"}}"#,
            #"{"match":{"route":"/v1/ships","path":"/v1/ships"}}"#, #"{"match":{"route":"ships"}}"#,
            #"{"match":{"header":{"a b":true}}}"#, #"{"match":{"header":{"Authorization":{"matches":"Bearer .*"}}}}"#,
            #"{"match":{"header":{"x-api-key":{"matches":".*"}}}}"#,
        ]
    )
    func refused(expectation: String) throws {
        #expect(throws: ControlProblem.self) { try Expectation(try JSONParser.parse(Array(expectation.utf8))) }
    }

    @Test("HARN-34 secrets are compared as a journal has them: hidden, in fields, parameters and bodies")
    func secrets() throws {
        let sent = entry(
            "/login?access_token=tok%2B1",
            [.authorization: "Bearer tok-2", .contentType: "application/json"],
            body: #"{"user":"anna","password":"correct horse"}"#
        )
        let match = #"""
            {"match":{"query":{"access_token":"tok+1"},"header":{"authorization":"Bearer tok-2"},
             "body":{"password":"correct horse"}}}
            """#
        #expect(try differences(match, sent) == [])
        #expect(try differences(match.replacing("horse", with: "cow"), sent) == ["body"])
        #expect(try differences(match.replacing("tok-2", with: "tok-3"), sent) == ["header.authorization"])
    }

    @Test("HARN-34 a body that is not known, or not all of it, neither matches nor counts as none")
    func unknown() throws {
        let expectation = try Expectation(["match": ["body": "needle"]])
        func isUnknown(_ entry: JournalEntry) -> Bool {
            expectation.isUnknown(entry, expectation.differences(of: entry))
        }
        #expect(
            !isUnknown(entry("/", body: "a needle")) && !isUnknown(entry("/", body: "hay")) && !isUnknown(entry("/"))
        )
        #expect(isUnknown(entry("/", body: "hay", of: 100_000)) && !isUnknown(entry("/", body: "needle", of: 100_000)))
        #expect(isUnknown(entry("/", [.contentLength: "5"])) && !isUnknown(entry("/", [.contentLength: "0"])))
        var forgotten = entry("/", body: "hay")
        forgotten.body?.content = nil
        #expect(isUnknown(forgotten))
        #expect(isUnknown(entry("/", [.contentEncoding: "br"], body: "hay")))
    }
}

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
