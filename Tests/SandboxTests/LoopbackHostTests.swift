import Testing

@testable import Sandbox

@Suite struct LoopbackHostTests {
    @Test(
        "loopback names and addresses are accepted",
        arguments: [
            "localhost", "LocalHost:80", "a.localhost:1", "127.0.0.1", "127.9.8.7:65535", "[::1]", "[::1]:8080",
        ]
    )
    func accepted(authority: String) {
        #expect(LoopbackHost.matches(authority: authority))
        #expect(LoopbackHost.matches(origin: "http://\(authority)"))
    }

    @Test(
        "every other host is refused",
        arguments: [
            "", "example.com", "localhost.example.com", "127.0.0.1.example.com", "1270.0.1", "127.0.0.256", "127.0.0",
            "128.0.0.1", "0.0.0.0", "[::2]",
            "evil@localhost",
            "localhost:80@evil", "notlocalhost", "localhost:x",
        ]
    )
    func refused(authority: String) {
        #expect(!LoopbackHost.matches(authority: authority))
        #expect(!LoopbackHost.matches(origin: "http://\(authority)"))
    }

    @Test("an origin without a host is refused")
    func nullOrigin() {
        #expect(!LoopbackHost.matches(origin: "null"))
    }
}
