import Testing

@testable import HTTPServer

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
