import NIOCore
import Testing

@testable import Concurrency
@testable import Freshness
@testable import Upstream

/// Addresses that data of an upstream must not make Larder ask: IANA special-purpose registries (RFC 6890 and
/// successors).
struct AddressRulesTests {
    @Test(
        "SRV-11 Special IPv4 addresses are not public",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.0.1", "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        ]
    )
    func specialV4(address: String) {
        #expect(!AddressRules.isPublic(address))
        #expect(!AddressRules.isPublic("::ffff:\(address)"))
    }

    @Test(
        "Their neighbours are",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1",
            "169.253.255.255", "169.255.0.1",
            "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.167.255.255", "192.169.0.1", "198.17.255.255",
            "198.20.0.1", "223.255.255.255",
        ]
    )
    func publicV4(address: String) {
        #expect(AddressRules.isPublic(address))
        #expect(AddressRules.isPublic("::ffff:\(address)"))
    }

    @Test(
        "SRV-11 Special IPv6 addresses are not public",
        arguments: [
            "::", "::1", "::7f00:1", "::ffff:0:7f00:1", "100::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1",
            "ff02::1", "ff0e::1",
            "2001::1", "2001:0:1234::1", "2001:2::1", "2001:10::1", "2001:1ff::1", "2001:db8::1", "3fff::1",
            "3fff:fff::1", "5f00::1",
            "4000::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
        ]
    )
    func specialV6(address: String) {
        #expect(!AddressRules.isPublic(address))
    }

    @Test(
        "Global unicast is public",
        arguments: [
            "2000::1", "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "3ffe::1",
            "3fff:1000::1",
        ]
    )
    func publicV6(address: String) {
        #expect(AddressRules.isPublic(address))
    }

    @Test("SRV-11 An IPv4 address inside an IPv6 one counts: NAT64 and 6to4")
    func embedded() {
        #expect(!AddressRules.isPublic("64:ff9b::127.0.0.1"))
        #expect(!AddressRules.isPublic("64:ff9b::10.0.0.1"))
        #expect(AddressRules.isPublic("64:ff9b::1.1.1.1"))
        #expect(!AddressRules.isPublic("64:ff9b:1::1.1.1.1"), "RFC 8215: a network's own translation")
        #expect(!AddressRules.isPublic("2002:7f00:1::1"))
        #expect(!AddressRules.isPublic("2002:c0a8:1::1"))
        #expect(AddressRules.isPublic("2002:101:101::1"))
    }

    @Test(
        "What is no address is not public",
        arguments: ["", "localhost", "127.1", "0x7f000001", "2130706433", "1.1.1.1.1", "::g", "1.1.1.1 "]
    )
    func malformed(text: String) {
        #expect(!AddressRules.isPublic(text))
    }

    @Test("A socket's address is looked at; one without an IP address is not public")
    func socketAddresses() throws {
        #expect(try AddressRules.isPublic(SocketAddress(ipAddress: "1.1.1.1", port: 443)))
        #expect(try !AddressRules.isPublic(SocketAddress(ipAddress: "127.0.0.1", port: 443)))
        #expect(try !AddressRules.isPublic(SocketAddress(ipAddress: "::1", port: 443)))
        #expect(try !AddressRules.isPublic(SocketAddress(unixDomainSocketPath: "socket")))
    }
}
