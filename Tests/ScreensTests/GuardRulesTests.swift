import HTTPTypes
import Testing

@testable import Screens

struct HostRulesTests {
    private let rules = HostRules(boundHost: "192.168.1.5", allowed: ["Larder.Example", "shop.example:9000"])

    @Test(
        "SRV-11 Names of this server, on any port",
        arguments: [
            "localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "::1", "192.168.1.5", "larder.example",
            "larder.example.:80", "shop.example",
            "localhost:",
        ]
    )
    func own(authority: String) {
        #expect(rules.allows(authority))
    }

    @Test(
        "SRV-11 Foreign names, whatever they look like",
        arguments: [
            "evil.test", "localhost.evil.test", "evil.test:8080", "127.0.0.1.evil.test", "127.0.0.2", "xlocalhost",
            "localhost..", "localhost:80@evil.test",
            "evil.test@localhost", "user@localhost", "[::1]evil.test", "[::1]:80@evil.test", "[::2]", "[::1", "::1]",
            "localhost:80:80", "localhost:x",
            "localhost evil",
            "localhost/", "localhost, evil.test", "", ".", ":80", "[]",
        ]
    )
    func foreign(authority: String) {
        #expect(!rules.allows(authority))
    }

    @Test("SRV-11 A request without a Host is not served")
    func missing() {
        #expect(!rules.allows(nil))
    }
}

struct OriginRulesTests {
    private let rules = OriginRules(allowed: ["https://Shop.Example"])
    private static let writes: [HTTPRequest.Method] = [.post, .put, .patch, .delete]

    private func allows(_ method: HTTPRequest.Method, _ fields: HTTPFields, authority: String? = "localhost:8080")
        -> Bool
    {
        rules.allows(method, headerFields: fields, authority: authority)
    }

    @Test("SRV-11 Writes: without an origin, from the own origin or a listed one", arguments: writes)
    func allowed(method: HTTPRequest.Method) {
        #expect(allows(method, [:]))
        #expect(allows(method, [.origin: "http://localhost:8080"]))
        #expect(allows(method, [.origin: "HTTPS://shop.example"]))
        #expect(allows(method, [.secFetchSite: "same-origin"]) && allows(method, [.secFetchSite: "none"]))
    }

    @Test("SRV-11 Writes from anywhere else are refused", arguments: writes)
    func refused(method: HTTPRequest.Method) {
        for origin in [
            "https://evil.test", "null", "", "http://localhost:9999", "http://localhost",
            "https://shop.example.evil.test", "https://shop.example:444",
        ] {
            #expect(!allows(method, [.origin: origin]), "\(origin)")
        }
        var two: HTTPFields = [.origin: "https://shop.example"]
        two.append(HTTPField(name: .origin, value: "https://evil.test"))
        #expect(!allows(method, two))
        #expect(!allows(method, [.secFetchSite: "cross-site"]) && !allows(method, [.secFetchSite: "same-site"]))
    }

    @Test("Reading is left to the browser", arguments: [HTTPRequest.Method.get, .head, .options])
    func reads(method: HTTPRequest.Method) {
        #expect(allows(method, [.origin: "https://evil.test"]))
    }

    @Test("Only a listed origin gets fields that let it read")
    func fields() {
        #expect(
            rules.fields(for: [.origin: "https://shop.example"])[.accessControlAllowOrigin] == "https://shop.example"
        )
        #expect(rules.fields(for: [.origin: "https://evil.test"])[.accessControlAllowOrigin] == nil)
        #expect(rules.fields(for: [:])[.accessControlAllowOrigin] == nil)
        #expect(
            OriginRules(allowed: ["*"]).fields(for: [.origin: "https://any.test"])[.accessControlAllowOrigin]
                == "https://any.test"
        )
    }

    @Test("Only a preflight of a listed origin is told what it may do")
    func preflight() {
        let asked: HTTPFields = [.origin: "https://shop.example", .accessControlRequestMethod: "DELETE"]
        #expect(rules.preflightFields(for: asked, allowed: "GET, DELETE")[.accessControlAllowMethods] == "GET, DELETE")
        #expect(
            rules.preflightFields(for: asked, allowed: nil)[.accessControlAllowHeaders]?.contains("Authorization")
                == true
        )
        #expect(rules.preflightFields(for: [.origin: "https://shop.example"], allowed: nil).isEmpty)
        #expect(
            rules.preflightFields(
                for: [.origin: "https://evil.test", .accessControlRequestMethod: "GET"],
                allowed: nil
            ).isEmpty
        )
    }
}

struct RequestIdentitiesTests {
    @Test(
        "SRV-12 A harmless identity of the client is kept",
        arguments: ["a", "550e8400-e29b-41d4-a716-446655440000", "A.b:c_d-9", String(repeating: "x", count: 128)]
    )
    func kept(text: String) {
        #expect(RequestIdentities(run: "r").identity(wanted: text) == text)
    }

    @Test(
        "SRV-12 Any other is replaced by run and number",
        arguments: ["", " ", "a b", "a\nb", "ä", "a,b", "\"", "<x>", "a\u{0}", String(repeating: "x", count: 129)]
    )
    func replaced(text: String) {
        let identities = RequestIdentities(run: "r")
        #expect(identities.identity(wanted: text) == "r-1")
        #expect(identities.identity(wanted: nil) == "r-2")
    }
}

struct RouteTableTests {
    private let table = RouteTable(
        [
            (HTTPRequest.Method.get, "/v1/ships"), (.get, "/v1/ships/launch"), (.post, "/v1/ships/restore"),
            (.get, "/v1/ships/{id}"),
            (.delete, "/v1/ships/{id}"),
            (.get, "/v1/ships/{id}/image"), (.put, "/v1/a/{x}/c"), (.get, "/"),
        ].map { Route($0.0, $0.1, "s") { _ in plain("") } }
    )

    private func allowed(_ path: String) -> String {
        table.allowedMethods(path: path).map(\.rawValue).joined(separator: " ")
    }

    @Test("SRV-06 What a path answers: HEAD with GET, OPTIONS always")
    func allowed() {
        #expect(allowed("/v1/ships") == "GET HEAD OPTIONS")
        #expect(allowed("/v1/ships/abc") == "GET HEAD DELETE OPTIONS")
        #expect(allowed("/v1/a/b/c") == "PUT OPTIONS")
        #expect(allowed("/") == "GET HEAD OPTIONS")
    }

    @Test("SRV-06 A fixed path hides a parameter, as it does in the router")
    func fixedPaths() {
        #expect(allowed("/v1/ships/launch") == "GET HEAD OPTIONS")
        #expect(allowed("/v1/ships/restore") == "POST OPTIONS")
        #expect(allowed("/v1/ships/launch/image") == "GET HEAD OPTIONS")
    }

    @Test(
        "Where there is nothing, nothing is allowed",
        arguments: ["/v1", "/v1/ship", "/v1/ships/a/b", "/v1/ships/a/image/x", "", "/V1/ships"]
    )
    func nothing(path: String) {
        #expect(allowed(path) == (path.isEmpty ? "GET HEAD OPTIONS" : ""))
    }
}
