import HTTPTypes
import Testing

@testable import HTTPServer

struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "::1"].compactMap { AddressRange($0) })

    private func client(_ peer: String, _ fields: HTTPFields) -> String? {
        proxies.client(behind: IPAddress(peer), fields)?.description
    }

    @Test("TRUST-21 Without trusted proxies, and from other peers, the fields say nothing")
    func untrusted() {
        let fields: HTTPFields = [.xForwardedFor: "192.0.2.1", .forwarded: "for=192.0.2.1"]
        #expect(client("203.0.113.9", fields) == "203.0.113.9")
        #expect(TrustedProxies.none.client(behind: IPAddress("10.0.0.1"), fields)?.description == "10.0.0.1")
        #expect(proxies.client(behind: nil, fields) == nil)
    }

    @Test("TRUST-21 The client is the last address that no trusted proxy has; what is ahead of it is its own word")
    func chain() {
        #expect(client("10.0.0.1", [.xForwardedFor: "192.0.2.1"]) == "192.0.2.1")
        #expect(client("10.0.0.1", [.xForwardedFor: "1.1.1.1, 192.0.2.1, 10.0.0.2"]) == "192.0.2.1")
        #expect(client("10.0.0.1", [.xForwardedFor: "1.1.1.1, 192.0.2.1:4711"]) == "192.0.2.1")
        #expect(client("::1", [.forwarded: #"for=1.1.1.1, For="[2001:db8::1]:80";proto=https"#]) == "2001:db8::1")
        #expect(client("10.0.0.1", [.xForwardedFor: "10.0.0.3, 10.0.0.2"]) == "10.0.0.3")
        var lines = HTTPFields()
        lines.append(HTTPField(name: .xForwardedFor, value: "1.1.1.1"))
        lines.append(HTTPField(name: .xForwardedFor, value: "192.0.2.1"))
        #expect(client("10.0.0.1", lines) == "192.0.2.1")
    }

    @Test(
        "TRUST-21 What names no address leaves the proxy's",
        arguments: [
            [.xForwardedFor: "unknown"], [.xForwardedFor: ""], [.forwarded: "for=_hidden"], [.forwarded: "proto=https"],
            [:],
            // One of them is the client's own.
            [.xForwardedFor: "192.0.2.1", .forwarded: "for=198.51.100.1"],
        ] as [HTTPFields]
    )
    func nothing(fields: HTTPFields) {
        #expect(client("10.0.0.1", fields) == "10.0.0.1")
    }

    @Test("Both fields may say the same")
    func both() {
        #expect(client("10.0.0.1", [.xForwardedFor: "192.0.2.1", .forwarded: "for=192.0.2.1"]) == "192.0.2.1")
    }
}
