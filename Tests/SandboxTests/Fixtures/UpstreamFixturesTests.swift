import Foundation
import HTTPTypes
import JSONValues
import TestKit
import Testing

@testable import Sandbox

@Suite("Recordings of an upstream")
struct UpstreamFixturesTests {
    private let folder: TemporaryFolder
    private let fixtures: UpstreamFixtures
    private let reports = LogOfReports()

    init() throws {
        folder = try TemporaryFolder()
        fixtures = try Self.fixtures(in: folder, .record, reports)
    }

    static func fixtures(_ folder: TemporaryFolder, _ mode: FixtureMode) throws -> UpstreamFixtures {
        try fixtures(in: folder, mode, LogOfReports())
    }

    private static func fixtures(
        in folder: TemporaryFolder,
        _ mode: FixtureMode,
        _ reports: LogOfReports
    ) throws -> UpstreamFixtures {
        try UpstreamFixtures(name: "api", base: "https://api.example", mode: mode, folder: folder.url) {
            reports.add($0)
        }
    }

    private static func get(_ target: String, _ fields: HTTPFields = [:]) -> FixtureRequest {
        FixtureRequest(method: .get, target: target, headerFields: fields)
    }

    private static func post(_ target: String, _ body: String, type: String = "application/json") -> FixtureRequest {
        FixtureRequest(
            method: .post,
            target: target,
            headerFields: [.contentType: type],
            body: FixtureBody(Array(body.utf8))
        )
    }

    private static func response(_ body: String, _ fields: HTTPFields = [:], type: String = "application/json")
        -> FixtureResponse
    {
        var fields = fields
        fields[.contentType] = type
        return FixtureResponse(status: .ok, headerFields: fields, content: .bytes(Array(body.utf8)))
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private func text(_ file: String) throws -> String {
        try String(contentsOf: folder.url.appending(path: file), encoding: .utf8)
    }

    private func replay(_ request: FixtureRequest, from other: UpstreamFixtures? = nil) throws -> String? {
        try (other ?? fixtures).reply(to: request).map { String(decoding: try $0.bytes(), as: UTF8.self) }
    }

    @Test("HARN-40 a strict replay tells requests without a recording, and recordings that are older than asked")
    func strict() throws {
        let day = Date(timeIntervalSince1970: 1_900_000_000)
        func fixtures(_ mode: FixtureMode, after days: Double) throws -> UpstreamFixtures {
            let now = day.addingTimeInterval(86_400 * days)
            return try UpstreamFixtures(
                name: "api",
                base: "https://api.example",
                mode: mode,
                folder: folder.url,
                now: { now },
                report: { _ in }
            )
        }
        let recording = try fixtures(.record, after: 0)
        for target in ["/a", "/b"] { try recording.keep(Self.get(target), Self.response(#"{"a":1}"#)) }
        #expect(try text(files[0]).contains("day: 2030-03-17"))

        let replay = try fixtures(.replay, after: 30)
        _ = replay.reply(to: Self.get("/a"))
        #expect(replay.lapses(oldestDays: 30) == ([], []) && replay.lapses(oldestDays: nil) == ([], []))
        #expect(replay.lapses(oldestDays: 29) == ([], [["file": "001-GET-a.http.yaml", "day": "2030-03-17"]]))
        _ = replay.refusal(of: Self.get("/c"))
        #expect(replay.lapses(oldestDays: nil).unmatched.map { $0.object?["request"] } == ["GET /c"])

        // Recorded again, the file is the same but for its day.
        let before = try text("001-GET-a.http.yaml")
        try fixtures(.record, after: 10).keep(Self.get("/a"), Self.response(#"{"a":1}"#))
        #expect(try text("001-GET-a.http.yaml") == before.replacing("2030-03-17", with: "2030-03-27"))
    }

    @Test("HARN-19 an exchange is a file that a person can read; replayed, its bytes are those that were received")
    func roundTrip() throws {
        let body = #"[{"name":"Öl, 1:2 # no","mass":1.50,"active":true,"lines":"a\nb"}]"#
        let fields: HTTPFields = [
            .eTag: #""x-1""#, .date: "Mon, 01 Jan 2029 00:00:00 GMT", .cacheControl: "max-age=60",
        ]
        try fixtures.keep(Self.get("/v4/ships?limit=2"), Self.response(body, fields))
        try fixtures.keep(Self.get("/page"), Self.response("<p>\r\n \u{2028} \t</p>\n\n", type: "text/html"))
        #expect(try files.prefix(1) == ["001-GET-v4-ships_limit-2.http.yaml"])
        let text = try text("001-GET-v4-ships_limit-2.http.yaml")
        #expect(text.hasPrefix("request: GET /v4/ships?limit=2\nstatus: 200\nheader:\n"))
        #expect(text.contains("json: |") && text.contains("    \"mass\": 1.50,\n") && !text.contains("date:"))

        let replaying = try Self.fixtures(folder, .replay)
        #expect(try replay(Self.get("/v4/ships?limit=2"), from: replaying) == body)
        #expect(try replay(Self.get("/page"), from: replaying) == "<p>\r\n \u{2028} \t</p>\n\n")
        let response = try #require(replaying.reply(to: Self.get("/v4/ships?limit=2")))
        #expect(response.headerFields[.cacheControl] == "max-age=60")
        #expect(response.headerFields[.contentLength] == "\(body.utf8.count)")
        // A copy is confirmed as the real service would do.
        let conditional = replaying.reply(to: Self.get("/v4/ships?limit=2", [.ifNoneMatch: #""x-1""#]))
        #expect(conditional?.status == .notModified && conditional?.content.count == 0)
    }

    @Test("HARN-19 equal requests get their recorded responses in turn, then the last one")
    func sequence() throws {
        let poll = Self.get("/status")
        for state in ["waiting", "waiting", "done"] { try fixtures.keep(poll, Self.response(#"{"s":"\#(state)"}"#)) }
        #expect(try files.count == 2)
        let replaying = try Self.fixtures(folder, .replay)
        let seen = try (0..<4).map { _ in try replay(poll, from: replaying) }
        #expect(seen == [#"{"s":"waiting"}"#, #"{"s":"done"}"#, #"{"s":"done"}"#, #"{"s":"done"}"#])
        // A recording of another day takes the place of this one.
        let again = try Self.fixtures(folder, .record)
        try again.keep(poll, Self.response(#"{"s":"new"}"#))
        #expect(try files == ["001-GET-status.http.yaml"])
    }

    @Test("Requests are told apart by query, body, range and what Vary names, in any order of parameters")
    func matching() throws {
        let vary: HTTPFields = [.vary: "Accept-Language, Authorization"]
        try fixtures.keep(
            Self.get("/a?x=1&y=2", [.acceptLanguage: "ru", .authorization: "Bearer 1"]),
            Self.response("1", vary)
        )
        try fixtures.keep(Self.get("/a?x=1&y=2", [.acceptLanguage: "en"]), Self.response("2", vary))
        try fixtures.keep(Self.post("/q", #"{"limit":1}"#), Self.response("3"))
        try fixtures.keep(Self.post("/q", #"{"limit":1,"page":2}"#), Self.response("4"))
        try fixtures.keep(Self.get("/f", [.range: "bytes=0-1"]), Self.response("5"))
        try fixtures.keep(Self.get("/f"), Self.response("6"))
        let replaying = try Self.fixtures(folder, .replay)
        let ask = { (request: FixtureRequest) in try replay(request, from: replaying) }
        #expect(try ask(Self.get("/a?y=2&x=1", [.acceptLanguage: "ru"])) == "1")
        #expect(try ask(Self.get("/a?x=1&y=2", [.acceptLanguage: "en", .authorization: "Bearer 9"])) == "2")
        #expect(try ask(Self.get("/a?x=1&y=2&z=3", [.acceptLanguage: "en"])) == nil)
        #expect(try ask(Self.get("/a?x=1", [.acceptLanguage: "en"])) == nil)
        #expect(try ask(Self.get("/a/b?x=1&y=2", [.acceptLanguage: "en"])) == nil)
        #expect(try ask(Self.post("/q", #"{ "page": 2, "limit": 1 }"#)) == "4")
        #expect(try ask(Self.post("/q", #"{"limit":1}"#)) == "3")
        #expect(try ask(Self.post("/q", #"{"limit":2}"#)) == nil)
        #expect(try ask(Self.get("/f", [.range: "bytes=0-1"])) == "5")
        #expect(try ask(Self.get("/f")) == "6")
    }

    @Test("HARN-20 no file holds a secret of requests or responses, and what was recorded is found without them")
    func secrets() throws {
        let planted = [
            "tok-planted-1", "tok-planted-2", "pw-planted-3", "sid-planted-4", "sign-planted-5", "key-planted-6",
        ]
        let login = "grant_type=password&username=anna&password=\(planted[2])"
        let form = "application/x-www-form-urlencoded"
        let granted = #"{"access_token":"\#(planted[0])","refresh_token":"\#(planted[1])"}"#
        try fixtures.keep(
            Self.post("/token", login, type: form),
            Self.response(granted, [.setCookie: "sid=\(planted[3])"])
        )
        let link = "https://down.example/f?sign=\(planted[4])"
        let own = Self.get(
            "/link?key=\(planted[5])",
            [.authorization: "OAuth \(planted[0])", .cookie: "sid=\(planted[3])"]
        )
        try fixtures.keep(own, Self.response(#"{"href":"\#(link)","for":"\#(planted[0])"}"#))
        let file = String(repeating: "long \(planted[0]) text\n", count: 20_000)
        try fixtures.keep(Self.get(link), Self.response(file, type: "text/plain"))
        for name in try files {
            let text = try text(name)
            for secret in planted { #expect(!text.contains(secret), "\(name) has \(secret)") }
        }

        let replaying = try Self.fixtures(folder, .replay)
        let other = "grant_type=password&username=anna&password=another"
        #expect(try replay(Self.post("/token", other, type: form), from: replaying)?.contains("access_token") == true)
        let body = try #require(try replay(Self.get("/link?key=mine"), from: replaying))
        let href = try #require(try JSONParser.parse(Array(body.utf8)).object?["href"]?.string)
        #expect(try replay(Self.get(href), from: replaying)?.hasPrefix("long larder-secret-") == true)
        #expect(try replay(Self.get("https://down.example/f?sign=larder-secret-99"), from: replaying) == nil)
    }

    @Test("HARN-21 a request without a recording is refused with 404 and the files nearest to it")
    func nearMisses() throws {
        try fixtures.keep(Self.get("/v4/ships/1"), Self.response("1"))
        try fixtures.keep(Self.get("/v4/rockets/1?x=1"), Self.response("2"))
        let request = Self.get("/v4/ships/2")
        let refusal = fixtures.refusal(of: request)
        #expect(refusal.status == .notFound && refusal.headerFields[.contentType] == "application/problem+json")
        let problem = try JSONParser.parse(try refusal.bytes()).object
        #expect(problem?["code"]?.string == "not-recorded")
        let nearest = problem?["near_misses"]?.array?.first?.object
        #expect(nearest?["file"]?.string == "001-GET-v4-ships-1.http.yaml")
        #expect(nearest?["differences"] == [["field": "path", "expected": "/v4/ships/1", "actual": "/v4/ships/2"]])
        #expect(reports.texts == ["api: no recording of GET /v4/ships/2"])
    }

    @Test("HARN-23 a file that was edited holds for the next request; a broken one is named with its line, alone")
    func editing() throws {
        try fixtures.keep(Self.get("/a"), Self.response(#"{"a":1}"#))
        try fixtures.keep(Self.get("/b"), Self.response(#"{"b":1}"#))
        let replaying = try Self.fixtures(in: folder, .replay, reports)
        #expect(try replay(Self.get("/a"), from: replaying) == #"{"a":1}"#)
        let file = folder.url.appending(path: "001-GET-a.http.yaml")
        let edited = try text("001-GET-a.http.yaml").replacing(#""a": 1"#, with: #""a": 22"#)
        try Data(edited.utf8).write(to: file)
        #expect(try replay(Self.get("/a"), from: replaying) == #"{"a":22}"#)

        try Data(edited.replacing("22", with: "22,").utf8).write(to: file)
        #expect(try replay(Self.get("/a"), from: replaying) == nil)
        #expect(try replay(Self.get("/b"), from: replaying) == #"{"b":1}"#)
        let line = try #require(edited.split(separator: "\n").firstIndex { $0.contains("22") }) + 2
        let problem = try #require(try JSONParser.parse(try replaying.refusal(of: Self.get("/a")).bytes()).object)
        let broken = try #require(problem["broken"]?.array?.first?.object)
        #expect(broken["file"]?.string == "001-GET-a.http.yaml" && broken["line"] == .integer(line))
        #expect(reports.texts.first?.hasPrefix("api: 001-GET-a.http.yaml line \(line): json is no JSON") == true)

        try Data("request: GET /a\nstatus: 200\ntext: by hand\n".utf8).write(to: file)
        #expect(try replay(Self.get("/a"), from: replaying) == "by hand")
    }

    @Test("HARN-23 a body that a person has changed has another tag, so that a copy of the recorded one is replaced")
    func editedTag() throws {
        let (request, tag) = (Self.get("/a"), #""v1""#)
        try fixtures.keep(
            request,
            Self.response(#"{"a":1}"#, [.eTag: tag, .lastModified: "Mon, 01 Jan 2029 00:00:00 GMT"])
        )
        let replaying = try Self.fixtures(folder, .replay)
        let conditional = Self.get("/a", [.ifNoneMatch: tag])
        #expect(replaying.reply(to: conditional)?.status == .notModified)
        let file = folder.url.appending(path: "001-GET-a.http.yaml")
        try Data(try text("001-GET-a.http.yaml").replacing(#""a": 1"#, with: #""a": 22"#).utf8).write(to: file)
        let edited = try #require(replaying.reply(to: conditional))
        #expect(try edited.status == .ok && String(decoding: edited.bytes(), as: UTF8.self) == #"{"a":22}"#)
        let other = try #require(edited.headerFields[.eTag])
        #expect(other != tag && edited.headerFields[.lastModified] == nil)
        #expect(replaying.reply(to: Self.get("/a", [.ifNoneMatch: other]))?.status == .notModified)
    }

    @Test("HARN-19 a second recording of the same changes no file, whatever its secrets are by then")
    func again() throws {
        func record(_ fixtures: UpstreamFixtures, _ token: String, _ name: String) throws {
            try fixtures.keep(Self.post("/login", #"{"user":"a"}"#), Self.response(#"{"accessToken":"\#(token)"}"#))
            let own = Self.get("/me?accessToken=\(token)", [.authorization: "Bearer \(token)"])
            try fixtures.keep(own, Self.response(#"{"name":"\#(name)","for":"\#(token)"}"#))
        }
        func contents() throws -> [String: String] {
            try files.reduce(into: [:]) { $0[$1] = try text($1) }
        }
        try record(fixtures, "token-of-the-first-day", "Ada")
        let first = try contents()
        #expect(first.count == 2 && first.values.allSatisfy { $0.contains("larder-secret-1") })
        try record(try Self.fixtures(folder, .record), "token-of-the-second-day", "Ada")
        #expect(try contents() == first)
        // One file has changed, and its name has not.
        try record(try Self.fixtures(folder, .record), "token-of-the-third-day", "Bob")
        #expect(try contents().keys == first.keys && contents().count { first[$0.key] != $0.value } == 1)
    }

    @Test(
        "HARN-23 what cannot be used of a file is named with its line",
        arguments: [
            ("", nil, "empty"), ("request: GET /a", 1, "status is missing"),
            ("request: GET /a\nstatus: 99", 2, "status is '99'"), ("status: 200\nrequest: a", 2, "request is 'a'"),
            ("request: GET /a\nstatus: 200\nbody: x", 3, "body is unknown"),
            ("request: GET /a\nstatus: 200\ntext: x\njson: '{}'", 3, "one of json, text and file"),
            ("request: GET /a\nstatus: 200\nfile: ../x", 3, "file is '../x'"),
            ("request: GET /a\nstatus: 200\nheader:\n  a b: c", 4, "no name of a header field"),
            ("request: GET /a\nstatus: 200\nheader: {x: {y: z}}", 3, "header.x"),
            ("request: GET /a\nmatch: {query: {}}\nstatus: 200", 2, "query is unknown"),
            ("request: GET /a\nstatus: [", nil, "expected"),
            ("request: GET /a\nrequest: GET /b\nstatus: 200", nil, "request"),
        ] as [(String, Int?, String)]
    )
    func defects(text: String, line: Int?, reason: String) throws {
        do throws(YAMLDefect) {
            _ = try Fixture(text, name: "x.http.yaml")
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.reason.contains(reason), "\(error)")
            if let line { #expect(error.line == line, "\(error)") }
        }
    }

    @Test("A long body, and one that is no text, is a file beside, and leaves with the recording that it belongs to")
    func longBodies() throws {
        let png = FixtureResponse(
            status: .ok,
            headerFields: [.contentType: "image/png"],
            content: .bytes([0x89, 0x50, 0, 0xFF])
        )
        try fixtures.keep(Self.get("https://cdn.example/p.png"), png)
        let tee = FixtureTee(fixtures)
        let part = [UInt8](repeating: 7, count: 200_000)
        for _ in 0..<3 { try part.withUnsafeBytes { try tee.append($0) } }
        let long = FixtureResponse(status: .ok, headerFields: [:], content: try tee.finish())
        try fixtures.keep(Self.get("/long"), long)
        let names = [
            "001-GET-cdn.example-p.png.body.png", "001-GET-cdn.example-p.png.http.yaml", "002-GET-long.body.bin",
            "002-GET-long.http.yaml",
        ]
        #expect(try files == names)
        let replaying = try Self.fixtures(folder, .replay)
        #expect(try replaying.reply(to: Self.get("https://cdn.example/p.png"))?.bytes() == [0x89, 0x50, 0, 0xFF])
        #expect(replaying.reply(to: Self.get("/long"))?.content.count == 600_000)

        let again = try Self.fixtures(folder, .record)
        try again.keep(Self.get("/long"), Self.response("{}"))
        #expect(try files == names.filter { $0 != "002-GET-long.body.bin" })
        // A body that was not read to its end leaves no file.
        do {
            let tee = FixtureTee(again)
            for _ in 0..<3 { try part.withUnsafeBytes { try tee.append($0) } }
        }
        #expect(try files.count == 3)
    }

    @Test("Patches change status, fields and JSON of the responses that they match, and one that does not fit says so")
    func patches() async throws {
        let modifying = try Self.fixtures(in: folder, .modify, reports)
        let write = { (name: String, text: String) in
            try Data(text.utf8).write(to: folder.url.appending(path: name))
        }
        try write("1.patch.yaml", "match: {path: /ships}\nmerge: {active: false, mass: null}\n")
        try write("2.patch.yaml", "match: {query: {x: '1'}}\nstatus: 503\nheader: {retry-after: '5', etag: null}\n")
        try write("3.patch.yaml", "match: {path: /ships/2}\npatch: [{op: remove, path: /nothing}]\n")
        func modified(_ target: String) async throws -> FixtureResponse {
            var response = Self.response(#"{"active":true,"mass":1,"name":"a"}"#, [.eTag: #""e""#])
            await modifying.modify(&response, to: Self.get(target)) { _ in }
            return response
        }
        let one = try await modified("/ships/1?x=1")
        #expect(String(decoding: try one.bytes(), as: UTF8.self) == #"{"active":false,"name":"a"}"#)
        #expect(one.status.code == 503 && one.headerFields[.retryAfter] == "5" && one.headerFields[.eTag] == nil)
        #expect(try await modified("/rockets").headerFields[.eTag] == #""e""#)
        #expect(reports.texts.isEmpty)
        _ = try await modified("/ships/2")
        #expect(reports.texts.count == 1 && reports.texts[0].contains("3.patch.yaml does not fit"))
    }

    @Test("HARN-22 differences of a response from its recording, without those of secrets")
    func differences() throws {
        try fixtures.keep(Self.get("/a"), Self.response(#"{"token":"abcdefgh","n":1,"gone":2}"#))
        let now = Self.response(#"{"token":"ijklmnop","n":3,"added":[]}"#, type: "application/json; charset=utf-8")
        let found = try fixtures.differences(of: now, from: "001-GET-a.http.yaml").map(\.description)
        #expect(
            found == [
                "changed header.content-type: application/json -> application/json; charset=utf-8",
                "changed /n: 1 -> 3", "missing /gone: 2", "new     /added: []",
            ]
        )
    }

    @Test("A mode that needs a folder is refused without one")
    func noFolder() throws {
        let none = try UpstreamFixtures(name: "api", base: "", report: { _ in })
        #expect(throws: FixtureError.self) { try none.setMode(.replay) }
        #expect(none.mode == .live)
    }
}

private final class LogOfReports: Sendable {
    private let state = Watched<[String]>([])

    var texts: [String] { state.value }

    func add(_ text: String) { state.update { $0.append(text) } }
}
