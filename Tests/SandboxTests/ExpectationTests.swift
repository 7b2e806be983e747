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
