import Foundation
import HTTPTypes
import Server
import Storage
import TestKit
import Testing

@testable import Screens

struct SessionCookiesTests {
    private let cookies = SessionCookies(instance: "abcdef")

    @Test("WEB-05 Names belong to a data directory: they stay, and those of another one differ")
    func names() throws {
        let (one, two) = (try LarderDatabase.temporary(), try LarderDatabase.temporary())
        let first = try SessionCookies(SealedSecrets(one))
        let again = try SessionCookies(SealedSecrets(one))
        #expect(try first == again && SessionCookies(SealedSecrets(two)) != first)
        let name = try #require(try Regex("^larder-[a-z2-7]{6}-ships$").firstMatch(in: first.name(of: "ships")))
        #expect(!name.isEmpty)
        try SealedSecrets(one).rotateKey()
        #expect(try SessionCookies(SealedSecrets(one)) == first, "a rotation of the key logs nobody out")
    }

    @Test("What a cookie of a session is; over https it is for https only")
    func line() {
        let line = "larder-abcdef-disk=t; Path=/v1; HttpOnly; SameSite=Strict"
        #expect(cookies.line("disk", "t", age: nil, isSecure: false) == line)
        #expect(cookies.line("disk", "t", age: 7, isSecure: true) == "\(line); Max-Age=7; Secure")
    }

    @Test("SRV-11 Tokens are those of this server's cookies that have one")
    func tokens() {
        func read(_ lines: String...) -> [String] {
            var fields: HTTPFields = [:]
            for line in lines { fields.append(HTTPField(name: .cookie, value: line)) }
            return cookies.tokens(in: fields).map { "\($0.app):\($0.token)" }
        }
        #expect(read().isEmpty && read("a=b").isEmpty && read("larder-ABCDEF-disk=t; larder-fedcba-disk=t").isEmpty)
        #expect(read("larder-abcdef-disk=; larder-abcdef-ships").isEmpty)
        #expect(read("larder-abcdef-disk=a=b; c", "larder-abcdef-ships=t") == ["disk:a=b", "ships:t"])
    }

    @Test("SRV-11 A cookie of ten thousand bytes, or ten thousand cookies, are no error")
    func large() throws {
        let long = SessionCredentials(
            [.cookie: "larder-abcdef-disk=\(String(repeating: "a", count: 10_000))"],
            cookies: cookies
        )
        #expect(try long.tokenHash(of: "disk")?.count == 32 && long.tokenHash(of: "ships") == nil)
        let many = (0..<10_000).map { "larder-abcdef-a\($0)=t" }.joined(separator: "; ")
        let credentials = SessionCredentials([.cookie: many], cookies: cookies)
        #expect(try credentials.tokenHash(of: "a9999") == SessionToken.hash("t", .cookie))
    }

    @Test("The cookies of all servers of this kind are removed for upstreams; others pass")
    func removed() {
        var fields: HTTPFields = [.cookie: "a=1; larder-abcdef-disk=t; larder-zzzzzz-disk=t; b=2"]
        fields.append(HTTPField(name: .cookie, value: "larder-abcdef-ships=t"))
        fields.removeSessionCookies()
        #expect(fields[values: .cookie] == ["a=1; b=2"])
        var none: HTTPFields = [.accept: "*/*"]
        none.removeSessionCookies()
        #expect(none == [.accept: "*/*"])
    }
}

struct SessionCarrierTests {
    private static let route = Route(.post, "/v1/ships/session", "ships.session") { request in
        let carrier = try request.sessionCarrier()
        let response = plain(#"{"carrier":"\#(carrier.rawValue)"}"#)
        return response.granting(SessionGrant("t", carrier), of: "ships", .lasting, request)
    }

    private func opened(_ fields: HTTPFields, origins: [String] = []) async throws -> ScreenHarness.Served {
        let harness = try ScreenHarness([Self.route], origins: origins)
        return try await harness.serve(.post, "/v1/ships/session", fields)
    }

    @Test(
        "WEB-05 Only cookie is a value of Larder-Session, and the problem names it",
        arguments: ["Cookie", "bearer", "", "cookie, cookie", "cookies"]
    )
    func values(value: String) async throws {
        let refused = try await opened([.larderSession: value])
        #expect(try refused.status == .badRequest && refused.code() == "invalid-parameter")
        #expect(refused.text.contains("must be cookie") && refused.fields[.setCookie] == nil)
    }

    @Test("WEB-05 A page of another origin gets no cookie, not even that of a listed one")
    func origins() async throws {
        let foreign: [HTTPFields] = [
            [.origin: "https://shop.example"], [.origin: "https://shop.example", .secFetchSite: "cross-site"],
            [.secFetchSite: "same-site"], [.origin: "http://localhost:1", .secFetchSite: "same-site"],
        ]
        for fields in foreign {
            let refused = try await opened(
                fields.merging([.larderSession: "cookie"]),
                origins: ["https://shop.example"]
            )
            #expect(refused.status == .forbidden && refused.fields[.setCookie] == nil, "\(fields)")
            #expect(refused.fields[.accessControlAllowCredentials] == nil)
        }
        let preflight = try ScreenHarness([Self.route], origins: ["https://shop.example"])
        let allowed = try await preflight.serve(
            .options,
            "/v1/ships/session",
            [.origin: "https://shop.example", .accessControlRequestMethod: "POST"]
        )
        let names = try #require(allowed.fields[.accessControlAllowHeaders])
        #expect(!names.contains("Larder-Session") && allowed.fields[.accessControlAllowCredentials] == nil)
    }

    @Test("A page of this server gets one, by https one that is Secure; a program as well")
    func own() async throws {
        let pages: [(fields: HTTPFields, isSecure: Bool)] = [
            ([:], false), ([.origin: "http://localhost:8080"], false),
            ([.origin: "http://localhost:8080", .secFetchSite: "same-origin"], false),
            ([.origin: "https://localhost:8080", .secFetchSite: "same-origin"], true),
            ([.origin: "https://larder.example", .secFetchSite: "same-origin"], true),
        ]
        for (fields, isSecure) in pages {
            let served = try await opened(fields.merging([.larderSession: "cookie"]))
            let cookie = try #require(served.fields[.setCookie], "\(fields)")
            #expect(cookie.hasPrefix("larder-local-ships=t; ") && cookie.hasSuffix("; Secure") == isSecure)
        }
        #expect(try await opened([:]).fields[.setCookie] == nil)
    }
}
