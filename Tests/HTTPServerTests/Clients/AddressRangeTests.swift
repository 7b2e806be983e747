import Testing

@testable import HTTPServer

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
