import HTTPTypes
import Testing

@testable import Server

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

    @Test("SRV-11 Behind a proxy for TLS the public origin is the server's own; it needs no CORS fields")
    func publicOrigin() {
        let rules = OriginRules(allowed: [], own: ["https://Larder.example"])
        let fields: HTTPFields = [.origin: "https://larder.example", .secFetchSite: "same-origin"]
        #expect(rules.allows(.post, headerFields: fields, authority: "larder.example"))
        #expect(rules.fields(for: fields).isEmpty)
        #expect(
            !rules.allows(.post, headerFields: [.origin: "https://larder.example:8443"], authority: "larder.example")
        )
        let unset = OriginRules(allowed: [])
        #expect(!unset.allows(.post, headerFields: [.origin: "https://larder.example"], authority: "larder.example"))
        #expect(unset.allows(.post, headerFields: fields, authority: "larder.example"), "the browser knows it")
    }

    @Test("An empty port, and the default one of the scheme, are none", arguments: ["", ":", ":80"])
    func defaultPort(_ port: String) {
        for host in ["localhost", "[::1]"] {
            #expect(allows(.post, [.origin: "http://\(host)"], authority: host + port))
            #expect(!allows(.post, [.origin: "http://\(host):8080"], authority: host + port))
            #expect(!allows(.post, [.origin: "https://\(host)"], authority: host + port))
        }
        let https = OriginRules(allowed: [], scheme: "https")
        #expect(https.allows(.post, headerFields: [.origin: "https://a"], authority: "a:443"))
        #expect(!https.allows(.post, headerFields: [.origin: "https://a"], authority: "a:80"))
    }

    @Test("SRV-14 With a certificate the server's own pages come by https, and those by http are foreign")
    func https() {
        let rules = OriginRules(allowed: [], scheme: "https")
        let (own, clear): (HTTPFields, HTTPFields) = ([.origin: "https://a:8443"], [.origin: "http://a:8443"])
        #expect(rules.allows(.post, headerFields: own, authority: "a:8443"))
        #expect(!rules.allows(.post, headerFields: clear, authority: "a:8443"))
        #expect(rules.browser(.get, [:], authority: "a:8443").isSecure)
        #expect(!OriginRules(allowed: []).browser(.get, [:], authority: "a:8443").isSecure)
    }

    @Test("TRUST-07 Only requests of CORS get what other origins may embed, or every request if all origins may")
    func resourcePolicy() {
        #expect(rules.resourcePolicy(for: [:]) == "same-origin")
        #expect(rules.resourcePolicy(for: [.origin: "http://evil.example"]) == "same-origin")
        #expect(rules.resourcePolicy(for: [.origin: "https://shop.example"]) == nil)
        #expect(OriginRules(allowed: []).resourcePolicy(for: [.origin: "https://shop.example"]) == "same-origin")
        #expect(OriginRules(allowed: ["*"]).resourcePolicy(for: [:]) == nil)
    }

    @Test("TRUST-20 A GET of a foreign page may not have effects, one of a client that is no browser may")
    func effects() {
        let foreign: [HTTPFields] = [
            [.origin: "http://evil.example"], [.secFetchSite: "cross-site"], [.secFetchSite: "same-site"],
            [.origin: "null", .secFetchSite: "none"],
        ]
        for fields in foreign { #expect(!rules.allowsEffects(fields, authority: "localhost:8080"), "\(fields)") }
        let own: [HTTPFields] = [
            [:], [.secFetchSite: "none"], [.secFetchSite: "same-origin"], [.origin: "https://shop.example"],
        ]
        for fields in own { #expect(rules.allowsEffects(fields, authority: "localhost:8080"), "\(fields)") }
    }

    @Test("WEB-05 Cookies count on requests of own pages, whatever their origin is called; without a word on reads")
    func browser() {
        func rules(_ method: HTTPRequest.Method, _ fields: HTTPFields) -> BrowserRules {
            OriginRules(allowed: ["https://shop.example"], own: ["https://larder.example"]).browser(
                method,
                fields,
                authority: "larder.example"
            )
        }
        let silent = BrowserRules(sendsCookies: true, mayGetCookies: true, isSecure: true)
        for method in [HTTPRequest.Method.get, .head, .options] { #expect(rules(method, [:]) == silent) }
        let own: [HTTPFields] = [
            [.secFetchSite: "same-origin"], [.secFetchSite: "none"], [.origin: "https://larder.example"],
            [.secFetchSite: "same-origin", .origin: "https://other.example"],
        ]
        let foreign: [HTTPFields] = [
            [.secFetchSite: "same-site"], [.secFetchSite: "cross-site"], [.origin: "https://shop.example"],
            [.origin: "null"], [.secFetchSite: "none", .origin: "null"], [.secFetchSite: "SAME-ORIGIN"],
            [.secFetchSite: "cross-site", .origin: "https://larder.example"],
        ]
        for method in Self.writes + [.get] {
            for fields in own { #expect(rules(method, fields).sendsCookies && rules(method, fields).mayGetCookies) }
            for fields in foreign {
                #expect(!rules(method, fields).sendsCookies && !rules(method, fields).mayGetCookies, "\(fields)")
            }
        }
        for method in Self.writes { #expect(!rules(method, [:]).sendsCookies && rules(method, [:]).mayGetCookies) }
        #expect(!rules(.post, [.origin: "http://larder.example"]).isSecure)
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

    @Test("Only a preflight of a listed origin gets the permissions")
    func preflight() {
        let asked: HTTPFields = [.origin: "https://shop.example", .accessControlRequestMethod: "DELETE"]
        let readable = rules.preflightFields(for: asked, allowed: nil)[.accessControlAllowHeaders] ?? ""
        for name in ["If-Match", "If-None-Match", "If-Unmodified-Since", "traceparent"] {
            #expect(readable.contains(name), "a page of a listed origin may send preconditions and its trace")
        }
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

struct HostRulesTests {
    private let rules = HostRules(boundHost: "192.168.1.5", allowed: ["Larder.Example", "shop.example:9000"])

    @Test(
        "SRV-11 Names of this server, on any port",
        arguments: [
            "localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "::1", "192.168.1.5", "larder.example",
            "larder.example.:80", "shop.example",
            "localhost:", "larder.localhost:8080", "Larder.Localhost",
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
            "evil.test@localhost", "evil.localhost", "a.larder.localhost", "larder.localhost.evil.test",
            "user@localhost", "[::1]evil.test", "[::1]:80@evil.test", "[::2]", "[::1", "::1]",
            "localhost:80:80", "localhost:x",
            "localhost evil",
            "localhost/", "localhost, evil.test", "", ".", ":80", "[]",
        ]
    )
    func foreign(authority: String) {
        #expect(!rules.allows(authority))
    }

    @Test("SRV-14 The names of the certificate are served, in lower case and on any port")
    func certified() {
        let rules = HostRules(boundHost: "0.0.0.0", allowed: []) { $0 == "larder.home.arpa" || $0 == "fd00::1" }
        #expect(rules.allows("Larder.Home.ARPA.:8443") && rules.allows("[fd00::1]:8443"))
        #expect(!rules.allows("other.home.arpa") && rules.allows("localhost"))
    }

    @Test("SRV-11 A request without a Host is not served")
    func missing() {
        #expect(!rules.allows(nil))
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
