import Foundation
import HTTPTypes
import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

/// An API that echoes all that it gets, and has secrets of its own in every format.
@Suite("Planted secrets") struct PlantedSecretsTests {
    /// The planted secrets, one of each kind.
    private static let planted = (1...29).map { "planted-\($0 < 10 ? "0" : "")\($0)/Kx+9\($0)zQ" }

    private static func secret(_ number: Int) -> String { planted[number - 1] }

    /// Returns the texts that reveal a secret: itself, and its form in other encodings.
    private static func traces(of secret: String) -> [String] {
        let percent = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret
        let base64 = Data(secret.utf8).base64EncodedString().prefix(20)
        return [
            secret, secret.replacing("/", with: #"\/"#), percent, percent.lowercased(), String(base64), "Kx+9",
            "Kx%2B9",
        ]
    }

    private static func found(in bytes: Data) -> [String] {
        planted.filter { secret in traces(of: secret).contains { bytes.firstRange(of: Data($0.utf8)) != nil } }
    }

    private static let boundary = "b0undary"
    private static let multipart = """
        --\(boundary)\r
        Content-Disposition: form-data; name="userPassword"\r
        \r
        \(secret(21))\r
        --\(boundary)\r
        Content-Disposition: form-data; name="note"\r
        Content-Type: application/json\r
        \r
        {"apiKey":"\(secret(22))"}\r
        --\(boundary)--\r

        """

    // gzip of {"note":"ok","accessToken":"planted-26-gzipped-Q7"}
    private static let zipped = Data(
        base64Encoded: "H4sIAAAAAAACA6tWyssvSVWyUsrPVtJRSkxOTi0uDsnPTs0DChXkJOaVpKboGpnppldlFhQAmYHmSrUA6GMTyzMAAAA="
    )

    /// Content types with bodies that have secrets by their names.
    private static let bodies: [(type: String, body: String)] = [
        (
            "application/json",
            #"""
            {"accessToken":"\#(secret(6))","clientSecret":"\#(secret(7))","privateKey":"\#(secret(8))",
             "jwt":"\#(secret(9))","pwd":"\#(secret(10))","bearer":"\#(secret(11))","credential":{"a":["\#(secret(12))"]},
             "tokens":["\#(secret(13))",{"value":"\#(secret(14))"}],"data":"{\"refreshToken\":\"\#(secret(15))\"}",
             "fields":[{"name":"X-API-Key","value":"\#(secret(16))"}]}
            """#
        ),
        (
            "application/xml",
            """
            <r><ClientSecret>\(secret(17))</ClientSecret><db password="\(secret(18))"/><key>authToken</key>
            <string>\(secret(19))</string></r>
            """
        ),
        (
            "text/html",
            """
            <form><input type="hidden" name="csrf_token" value="\(secret(20))"></form>
            <script>window.state = {"sessionId": "\(secret(23))", n: 1}</script>
            """
        ),
        ("application/x-www-form-urlencoded", "user=anna&userPassword=\(secret(24))&x=1"),
        ("multipart/form-data; boundary=\(boundary)", multipart),
        ("text/plain", "oauth_token=\(secret(25))&note=1"),
    ]

    /// The fields of a request with credentials, and its target.
    private static let fields: HTTPFields = [
        .authorization: "Bearer \(secret(1))", .cookie: "theme=dark; sid=\(secret(2))",
        .contentType: "application/json",
    ]
    private static let target = "/echo?accessToken=\(secret(4))&x=1"

    private static func request(_ body: String = "", type: String = "application/json") -> FixtureRequest {
        var fields = fields
        fields[.contentType] = type
        if let name = HTTPField.Name("X-API-Key") { fields[name] = secret(3) }
        let sent = body.isEmpty ? nil : FixtureBody(Array(body.utf8))
        return FixtureRequest(method: .post, target: target, headerFields: fields, body: sent)
    }

    /// The response of an API that echoes a request, in its body and its fields, also encoded.
    private static var echo: FixtureResponse {
        let body = #"""
            {"you":{"sent":"\#(secret(1))","and":"sid=\#(secret(2))","plus":"\#(secret(3))"},
             "coded":"\#(Data("x \(secret(3)) y".utf8).base64EncodedString())",
             "url":"/echo?\#((secret(4)).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"}
            """#
        var fields: HTTPFields = [.contentType: "application/json", .setCookie: "sid=\(secret(27)); Path=/"]
        fields[.location] = "https://cdn.example/x?accessToken=\(secret(28))&sign=\(secret(29))"
        if let name = HTTPField.Name("X-Echo") { fields[name] = "\(secret(1)), \(secret(5))" }
        return FixtureResponse(status: .ok, headerFields: fields, content: .bytes(Array(body.utf8)))
    }

    private static func fixtures(_ mode: FixtureMode, in folder: TemporaryFolder) throws -> UpstreamFixtures {
        try UpstreamFixtures(
            name: "api",
            base: "https://api.example",
            mode: mode,
            folder: folder.url,
            report: { _ in }
        )
    }

    private static let zippedRequest = FixtureRequest(method: .get, target: "/zipped", headerFields: [:])

    /// Records an API that echoes.
    private static func record(in folder: TemporaryFolder) throws {
        let recording = try fixtures(.record, in: folder)
        // The fifth is carried by a later request: the files that are there are cleaned then.
        try recording.keep(request(), echo)
        for (type, body) in bodies {
            let fields: HTTPFields = [.contentType: type]
            let response = FixtureResponse(status: .ok, headerFields: fields, content: .bytes(Array(body.utf8)))
            try recording.keep(request(body, type: type), response)
        }
        let zipped = FixtureResponse(
            status: .ok,
            headerFields: [.contentType: "application/json", .contentEncoding: "gzip"],
            content: .bytes(Array(try #require(Self.zipped)))
        )
        try recording.keep(zippedRequest, zipped)
        let basic = "Basic " + Data("anna:\(secret(5))".utf8).base64EncodedString()
        let late = FixtureRequest(method: .get, target: "/late", headerFields: [.authorization: basic])
        try recording.keep(late, FixtureResponse(status: .noContent, headerFields: [:], content: .bytes([])))
    }

    @Test("HARN-33 of 29 planted secrets none is in any byte of the recordings of an API that echoes")
    func recordings() throws {
        let folder = try TemporaryFolder()
        try Self.record(in: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count >= 9)
        for name in names {
            let bytes = try Data(contentsOf: folder.url.appending(path: name))
            #expect(Self.found(in: bytes) == [], "\(name): \(String(decoding: bytes, as: UTF8.self))")
            #expect(bytes.firstRange(of: Data("planted-26".utf8)) == nil, "\(name)")
        }
    }

    @Test("HARN-33 each recording that was cleaned is found again, with its content type")
    func foundAgain() throws {
        let folder = try TemporaryFolder()
        try Self.record(in: folder)
        let replaying = try Self.fixtures(.replay, in: folder)
        // Bodies of multipart forms are not compared, so that any reply of the address would do.
        for (type, body) in Self.bodies where !type.hasPrefix("multipart") {
            let reply = try #require(replaying.reply(to: Self.request(body, type: type)), "\(type)")
            #expect(reply.headerFields[.contentType] == type)
        }
        let plain = try #require(replaying.reply(to: Self.zippedRequest))
        let text = String(decoding: try plain.bytes(), as: UTF8.self)
        #expect(text.wholeMatch(of: /{"note":"ok","accessToken":"larder-secret-[0-9]+"}/) != nil, "\(text)")
        #expect(plain.headerFields[.contentEncoding] == nil)
    }

    @Test("HARN-33 of the planted secrets that requests have none is in a journal, compressed bodies included")
    func journals() async throws {
        try await withSandbox { sandbox in
            var fields: HTTPHeaders = ["X-API-Key": Self.secret(3), "X-Echo": "\(Self.secret(1))!"]
            for field in Self.fields { fields.replaceOrAdd(name: field.name.rawName, value: field.value) }
            for (type, body) in Self.bodies {
                fields.replaceOrAdd(name: "Content-Type", value: type)
                let echo = "\(body) \(Self.secret(1)) \(Data(Self.secret(3).utf8).base64EncodedString())"
                _ = try await sandbox.send(.POST, "/spacex" + Self.target, headers: fields, body: echo)
            }
            fields.replaceOrAdd(name: "Content-Encoding", value: "gzip")
            let zipped = try #require(Self.zipped)
            _ = try await sandbox.send(.POST, "/spacex/zipped", headers: fields, data: zipped)
            fields.replaceOrAdd(name: "Content-Encoding", value: "br")
            _ = try await sandbox.send(.POST, "/spacex/coded", headers: fields, data: zipped)
            let journal = try await sandbox.get("/_sandbox/journal")
            let entries = try #require(try journal.object()["entries"]?.array)
            #expect(entries.count == Self.bodies.count + 2)
            #expect(Self.found(in: Data(journal.bytes)) == [], "\(journal.text)")
            #expect(!journal.text.contains("planted-26") && journal.text.contains(#"\"note\":\"ok\""#))
            // A coding that cannot be undone shows nothing.
            #expect(entries.last?.object?["body"] == ["bytes": .integer(zipped.count)])
        }
    }

    @Test("HARN-33 a body that is cut off shows no beginning of a secret, one that is no text none of it")
    func cut() {
        let secret = "planted-at-the-end-of-what-is-shown"
        let fields: HTTPFields = [.authorization: "Bearer \(secret)"]
        let cleaner = Journal.newCleaner
        cleaner.learn(fields, "/")
        let before = String(repeating: "x", count: JournalBody.limit - 5)
        let long = JournalBody(
            Array((before + secret + before).utf8.prefix(JournalBody.readLimit)),
            of: 200_000,
            fields,
            cleaner
        )
        guard case .text(let text) = long.content else { return #expect(Bool(false), "no text") }
        #expect(text.utf8.count == JournalBody.limit && text.hasSuffix("sha25"))
        let binary = JournalBody([0, 0xFF] + Array(secret.utf8), of: 40, fields, cleaner)
        guard case .binary(let bytes) = binary.content else { return #expect(Bool(false), "no bytes") }
        #expect(String(decoding: bytes, as: UTF8.self).contains("sha256:"))
    }
}
