import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Sandbox

@Suite("Files of recordings are always readable again")
struct UpstreamFixturesWritingTests {
    private let folder: TemporaryFolder
    private let reports = Watched<[String]>([])

    init() throws { folder = try TemporaryFolder() }

    private func fixtures(_ mode: FixtureMode, isReadOnly: Bool = false) throws -> UpstreamFixtures {
        try UpstreamFixtures(
            name: "api",
            base: "https://api.example",
            mode: mode,
            folder: folder.url,
            isReadOnly: isReadOnly
        ) { [reports] text in reports.update { $0.append(text) } }
    }

    private static func request(_ target: String, _ body: String? = nil) -> FixtureRequest {
        FixtureRequest(
            method: body == nil ? .get : .post,
            target: target,
            headerFields: body == nil ? [:] : [.contentType: "application/json"],
            body: body.map { FixtureBody(Array($0.utf8)) }
        )
    }

    private static func response(_ code: Int, _ fields: HTTPFields = [:]) -> FixtureResponse {
        var fields = fields
        fields[.contentType] = "text/plain"
        return FixtureResponse(status: .init(code: code), headerFields: fields, content: .bytes(Array("x".utf8)))
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test("HARN-23 a response of any final status is replayed as it was", arguments: [200, 299, 418, 599, 600, 999])
    func statuses(_ code: Int) throws {
        let request = Self.request("/a")
        try fixtures(.record).keep(request, Self.response(code))
        #expect(try fixtures(.replay).reply(to: request)?.status.code == code)
        #expect(reports.value.isEmpty)
    }

    @Test("A status that no final response has is reported, and no file has it", arguments: [0, 99, 101, 199])
    func interim(_ code: Int) throws {
        let recording = try fixtures(.record)
        let tee = FixtureTee(recording)
        try [UInt8](repeating: 7, count: Fixture.inline + 1).withUnsafeBytes { try tee.append($0) }
        var response = Self.response(code)
        response.content = try tee.finish()
        try recording.keep(Self.request("/a"), response)
        #expect(try files.isEmpty)
        #expect(reports.value == ["api: a response with status \(code) is not recorded"])
    }

    @Test(
        "HARN-19 a body of a request that YAML does not give back is still the one that is looked for",
        arguments: [
            #"{"a":1,"a":2}"#, #"{"a":{"b":[{"c":1,"c":2}]}}"#, "\"a\\r\\nb\"", "a\r\nb\u{2028}\t\u{85}c \n", "{\r\n}",
            "[1]", "- a: *b", "&x", "'", #"{"<<":1,"=":2,"~":3}"#, "\u{FEFF}{}", "\u{7F}\u{1B}[0m",
        ]
    )
    func bodies(_ body: String) throws {
        try fixtures(.record).keep(Self.request("/q", body), Self.response(200))
        let replaying = try fixtures(.replay)
        #expect(replaying.reply(to: Self.request("/q", body)) != nil, "\(replaying.details)")
        #expect(replaying.reply(to: Self.request("/q", "another")) == nil)
        #expect(reports.value.isEmpty)
    }

    @Test("HARN-20 a body with a secret that YAML does not give back leaves no digest of it")
    func digests() throws {
        let body = #"{"password":"pw-planted","password":"pw-planted"}"# + "\r\n"
        try fixtures(.record).keep(Self.request("/login", body), Self.response(200))
        let text = try String(contentsOf: folder.url.appending(path: try #require(try files.first)), encoding: .utf8)
        #expect(!text.contains("pw-planted") && !text.contains(FixtureBody(Array(body.utf8)).sha256), "\(text)")
        #expect(try fixtures(.replay).reply(to: Self.request("/login", body)) != nil)
    }

    @Test(
        "HARN-19 fields of a response are replayed as they were",
        arguments: ["a: b # c", "\"x\"", "é\u{9F}", "a\tb", "*", "&a", "yes", "- 1", "", "'", "%41", "{", "0x10", "|"]
    )
    func fields(_ value: String) throws {
        let name = try #require(HTTPField.Name("X-Note"))
        let request = Self.request("/a")
        try fixtures(.record).keep(request, Self.response(200, [name: value]))
        #expect(try fixtures(.replay).reply(to: request)?.headerFields[name] == value)
        #expect(reports.value.isEmpty)
    }

    @Test("HARN-19 a recording takes the place of an earlier one as a whole, body beside included")
    func replaced() throws {
        let long = { (byte: UInt8) in [UInt8](repeating: byte, count: Fixture.inline + 1) }
        for (byte, body) in [(7, "001-GET-a.body.txt"), (8, "001-GET-a.body-2.txt"), (9, "001-GET-a.body.txt")] {
            var response = Self.response(200)
            response.content = .bytes(long(UInt8(byte)))
            try fixtures(.record).keep(Self.request("/a"), response)
            #expect(try Set(files) == [body, "001-GET-a.http.yaml"])
            #expect(try fixtures(.replay).reply(to: Self.request("/a"))?.bytes() == long(UInt8(byte)))
        }
    }

    @Test("HARN-19 an earlier recording stays if a later one cannot be written, and nothing of the later one is left")
    func kept() throws {
        let request = Self.request("/a")
        var response = Self.response(200)
        response.content = .bytes([UInt8](repeating: 7, count: Fixture.inline + 1))
        try fixtures(.record).keep(request, response)
        // Another name, as a person may give it; nothing can take the place of a folder.
        let renamed = folder.url.appending(path: "001-mine.http.yaml")
        try FileManager.default.moveItem(at: folder.url.appending(path: "001-GET-a.http.yaml"), to: renamed)
        let obstacle = folder.url.appending(path: "001-GET-a.http.yaml/x")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        let before = try files
        let recording = try fixtures(.record)
        #expect(throws: FixtureError.self) { try recording.keep(request, Self.response(200)) }
        let tee = FixtureTee(recording)
        try [UInt8](repeating: 8, count: Fixture.inline + 1).withUnsafeBytes { try tee.append($0) }
        response.content = try tee.finish()
        #expect(throws: FixtureError.self) { try recording.keep(request, response) }
        #expect(try files == before)
        #expect(try fixtures(.replay).reply(to: request)?.content.count == Fixture.inline + 1)
    }

    @Test("HARN-07 a space reads the recordings and writes none: record is refused, or live if the settings say it")
    func readOnly() throws {
        let space = try fixtures(.record, isReadOnly: true)
        #expect(space.mode == .live && space.isReadOnly)
        #expect(throws: FixtureError.self) { try space.setMode(.record) }
        #expect(space.mode == .live)
        for mode in FixtureMode.allCases where mode != .record { try space.setMode(mode) }
        try fixtures(.record).keep(Self.request("/a"), Self.response(200))
        try space.setMode(.replay)
        #expect(space.reply(to: Self.request("/a"))?.status == .ok)
    }
}
