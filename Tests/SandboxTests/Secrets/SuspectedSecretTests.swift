import Foundation
import HTTPTypes
import JSONValues
import TestKit
import Testing

@testable import Sandbox

@Suite("What looks like a secret") struct SuspectedSecretTests {
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
    private static let random = "h7Jk2Pq9ZxW4mN8vB3tR6yLc"

    @Test(
        "HARN-33 tokens and keys of well-known services are replaced wherever they are",
        arguments: [
            token, "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "glpat-1a2B3c4D5e6F7g8H9i0J", "AKIA2OGYBAH6STMMNXMZ",
            "AIzaSyDaGmWKa4JsXZ5HjGw7ISLn_3namBGewQe", "y0_AgAAAABkZXRhaWxzLW9mLWEtdG9rZW4",
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
            "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
        ]
    )
    func known(secret: String) {
        let cleaner = SecretCleaner(secrets: Secrets())
        #expect(cleaner.text("before \(secret), after") == "before larder-secret-1, after")
    }

    @Test(
        "What is random is reported by its place",
        arguments: [
            (#"{"a":[{"b":"\#(random)"}]}"#, "/a/0/b has 24 random letters and digits"),
            (#"{"x":"0123456789abcdef0123456789abcdef"}"#, "/x has 32 hexadecimal digits"),
            ("one\ntwo = \(random)", "line 2 has 24 random letters and digits"),
        ]
    )
    func suspected(text: String, expected: String) {
        #expect(SuspectedSecret.find(inBody: text, .assignments).map(\.text) == [expected])
    }

    @Test(
        "Words, numbers, identities, hashes and links are not",
        arguments: [
            #"{"id":"\#(random)","etag":"0123456789abcdef0123456789abcdef","n":12345678901234567890123}"#,
            #"{"name":"iPhone14ProMaxSiliconeCase2","u":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","t":"2026-01-05T10:00:00Z"}"#,
            #"{"a":"getUserAccountInformationList2","href":"https://cdn.example/\#(random)/a.jpg"}"#, "", "{}",
            #"{"public_key":"\#(random)","publicKey":"\#(random)"}"#,
            #"{"a":"larder-secret-1","b":"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}"#,
        ]
    )
    func harmless(text: String) {
        #expect(SuspectedSecret.find(inBody: text, .assignments) == [])
    }

    @Test("HARN-33 what looks like a secret is reported, and refused where nobody looks; no message has its value")
    func refused() throws {
        let folder = try TemporaryFolder()
        let reports = Watched<[String]>([])
        func fixtures(refuses: Bool) throws -> UpstreamFixtures {
            try UpstreamFixtures(
                name: "api",
                base: "https://api.example",
                mode: .record,
                folder: folder.url,
                refusesSuspected: refuses
            ) { text in reports.update { $0.append(text) } }
        }
        let request = FixtureRequest(method: .get, target: "/a", headerFields: [:])
        let response = FixtureResponse(
            status: .ok,
            headerFields: [.contentType: "application/json"],
            content: .bytes(Array(#"{"a":"\#(Self.random)"}"#.utf8))
        )
        #expect(try !fixtures(refuses: true).keep(request, response))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        #expect(reports.value == ["api: GET /a is not recorded: /a has 24 random letters and digits"])

        let reporting = try fixtures(refuses: false)
        #expect(try reporting.keep(request, response))
        #expect(reporting.details["suspected"]?.array?.first?.object?["place"] == "/a")
        #expect(reports.value.count == 2 && !reports.value.contains { $0.contains(Self.random) })
    }

    @Test("HARN-33 a picture with a secret that was met is not recorded, nor what no coding can be undone of")
    func opaque() throws {
        let folder = try TemporaryFolder()
        let reports = Watched<[String]>([])
        let recording = try UpstreamFixtures(name: "api", base: "", mode: .record, folder: folder.url) { text in
            reports.update { $0.append(text) }
        }
        let request = FixtureRequest(method: .get, target: "/a", headerFields: [.authorization: "Bearer tok-planted-1"])
        func keep(_ fields: HTTPFields, _ bytes: [UInt8]) throws -> Bool {
            try recording.keep(request, FixtureResponse(status: .ok, headerFields: fields, content: .bytes(bytes)))
        }
        #expect(try !keep([.contentType: "image/png"], [0x89, 0] + Array("tok-planted-1".utf8)))
        #expect(try !keep([.contentType: "text/plain", .contentEncoding: "br"], [1, 2, 3]))
        #expect(try keep([.contentType: "image/png"], [0x89, 0]))
        #expect(reports.value.count == 2 && reports.value.allSatisfy { !$0.contains("planted") })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }
}
