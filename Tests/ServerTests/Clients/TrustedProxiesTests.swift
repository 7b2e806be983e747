import HTTPTypes
import Testing

@testable import Server

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

struct AddressRangeTests {
    @Test(
        "Addresses and ranges in CIDR notation",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("192.168.4.0/22", "192.168.7.9", true), ("192.168.4.0/22", "192.168.8.1", false),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "8.8.8.8", true),
            ("::1", "::1", true), ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe80::1", false),
            ("0.0.0.0/0", "::1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
        ]
    )
    func contains(range: String, address: String, isIn: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(
        "Anything else is no range",
        arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::1/129", "example.org", "[::1]"]
    )
    func refused(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test("One client is an IPv4 address or a /64 of IPv6")
    func client() {
        #expect(IPAddress("192.0.2.7")?.client.description == "192.0.2.7")
        #expect(IPAddress("::ffff:192.0.2.7")?.client.description == "192.0.2.7")
        #expect(IPAddress("2001:db8:1:2:3:4:5:6")?.client.description == "2001:db8:1:2::")
    }
}
