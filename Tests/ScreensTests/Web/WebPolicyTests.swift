import HTTPTypes
import Testing

@testable import Screens

@Suite struct WebPolicyTests {
    private static func scripts(_ authority: String?, publicOrigin: String? = nil) -> Substring? {
        let policy = WebPolicy(publicOrigin: publicOrigin).fields(authority: authority)[.contentSecurityPolicy] ?? ""
        return policy.split(separator: "; ").first { $0.hasPrefix("script-src ") }?.dropFirst("script-src ".count)
    }

    @Test("Code comes from the folder of files only, at the host that is requested and at that of a proxy")
    func sources() {
        #expect(Self.scripts("localhost:8080") == "http://localhost:8080/web/")
        #expect(
            Self.scripts("10.0.0.7", publicOrigin: "https://larder.example")
                == "http://10.0.0.7/web/ https://larder.example/web/"
        )
    }

    @Test("Hosts with labels, digits and hyphens are named as they are", arguments: ["a-1.b2.example:1", "1.2.3.4"])
    func hosts(_ authority: String) { #expect(Self.scripts(authority) == "http://\(authority)/web/") }

    @Test("SRV-14 With a certificate code comes by https only")
    func secure() {
        let policy = WebPolicy(publicOrigin: nil, scheme: "https").fields(authority: "a:8443")[.contentSecurityPolicy]
        #expect(policy?.contains("script-src https://a:8443/web/;") == true)
        #expect(policy?.contains("http:") == false)
    }

    @Test(
        "A host that a policy cannot have, as an IPv6 address, does not become part of it",
        arguments: [
            "[::1]:8080", "localhost.:8080", "a;b", "a b", "a, b", "*", "*.example", "", ":8080", "a:", "a:b", "a:1:2",
            "a..b", ".a", "ä.example", nil,
        ]
    )
    func otherHosts(_ authority: String?) {
        #expect(Self.scripts(authority) == "'self'")
    }
}
