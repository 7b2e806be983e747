import Foundation
import NIOCore
import Testing

@testable import Upstream

/// SRV-11: an upstream's data cannot turn Larder into an open proxy.
struct TargetRulesTests {
    private static func rules(
        _ base: String = "https://api.test:8443/v1",
        allowed: [String] = ["Pictures.Test", "cdn.test"]
    ) throws -> TargetRules {
        TargetRules(
            UpstreamConfiguration(
                name: "u",
                title: "U",
                baseURL: try #require(URL(string: base)),
                allowedHosts: allowed
            )
        )
    }

    @Test(
        "The configured origin, in any case, on its port, below the base URL's path",
        arguments: [
            "https://api.test:8443/v1", "HTTPS://API.TEST:8443/v1/other?x=1", "https://api.test:8443/v1?x=1",
            "https://api.test:8443/v1/",
        ]
    )
    func own(url: String) throws {
        let target = try Self.rules().target(of: url)
        #expect(target == .ownOrigin && target.isOwnOrigin)
    }

    @Test(
        "What the configured origin has beside the base URL's path is reached as the API, with a health of its own",
        arguments: [
            "https://api.test:8443/", "HTTPS://API.TEST:8443/other?x=1", "https://api.test:8443",
            "https://api.test:8443/v10", "https://api.test:8443/V1/a",
        ]
    )
    func beside(url: String) throws {
        let rules = try Self.rules()
        let target = rules.target(of: url)
        #expect(target == .besideBase && target.isOwnOrigin && !rules.needsPublicAddress(target))
    }

    @Test("A default port is the same written or not")
    func defaultPorts() throws {
        #expect(try Self.rules("https://api.test").target(of: "https://api.test:443/") == .ownOrigin)
        #expect(try Self.rules("http://api.test:80").target(of: "http://api.test/") == .ownOrigin)
        #expect(try Self.rules("http://api.test").target(of: "http://api.test:443/") != .ownOrigin)
    }

    @Test(
        "A listed host, in any case, on any port",
        arguments: ["https://pictures.test/a.jpg", "https://PICTURES.test:8443/a", "https://cdn.test"]
    )
    func listed(url: String) throws {
        #expect(try Self.rules().target(of: url) == .listedHost)
    }

    @Test(
        "SRV-11 Everything else is forbidden",
        arguments: [
            // other ports and schemes of the own host
            "https://api.test/", "https://api.test:9000/", "http://api.test:8443/",
            "https://evil.test/", "https://api.test.evil.test:8443/", "https://xapi.test:8443/",
            "https://apixtest:8443/", "https://api.test.:8443/",
            "https://sub.pictures.test/", "https://pictures.test.evil.test/", "https://127.0.0.1/", "https://[::1]/",
            "https://pictures.test@evil.test/", "https://user@pictures.test/", "https://user:secret@api.test:8443/",
            "https://@api.test:8443/",
            "https://evil.test/pictures.test", "https://evil.test?pictures.test", "https://evil.test#pictures.test",
            "https://evil.test\\@pictures.test/",
            "ftp://pictures.test/", "file:///etc/passwd", "file://pictures.test/etc/passwd", "unix://pictures.test/",
            "https+unix://pictures.test/",
            "https://pictures.test:99999/", "https://pictures.test:0/", "https://api.test:73979/",
            "https://pictures.test:99999999999999999999/",
            "http+unix://api.test/", "javascript:alert(1)", "data:text/plain,x", "/list", "//pictures.test/a",
            "pictures.test", "", "https://", "https:///a",
        ]
    )
    func forbidden(url: String) throws {
        guard case .forbidden = try Self.rules().target(of: url) else {
            Issue.record("\(url) is not forbidden")
            return
        }
    }

    @Test("SRV-11 A star lists the hosts below a name, and neither the name nor what ends like it")
    func wildcard() throws {
        let rules = try Self.rules(allowed: ["*.Disk.test"])
        for url in ["https://a.disk.test/x", "https://a.b.disk.test/x", "https://A.DISK.TEST:443/x"] {
            #expect(rules.target(of: url) == .listedHost, "\(url)")
        }
        for url in [
            "https://disk.test/x", "https://evildisk.test/x", "https://.disk.test/x", "https://a.disk.test.evil.test/",
            "https://a.disk.test@evil.test/",
            "http://a.disk.test/",
        ] {
            #expect(rules.target(of: url) != .listedHost, "\(url)")
        }
    }

    @Test("SRV-11 An upstream on this machine leads nowhere else on it, not even to other ports of its address")
    func local() throws {
        for base in ["http://127.0.0.1:9000/disk", "http://localhost:9000", "http://[::1]:9000"] {
            let rules = try Self.rules(base, allowed: [])
            #expect(rules.target(of: base) == .ownOrigin, "\(base)")
            let other = rules.target(of: base.replacing("9000", with: "9001"))
            #expect(other != .ownOrigin && other != .listedHost, "\(base)")
        }
        let listed = try Self.rules("http://127.0.0.1:9000", allowed: ["127.0.0.1"])
        #expect(listed.needsPublicAddress(.listedHost) && !listed.needsPublicAddress(.ownOrigin))
    }

    @Test("SRV-11 From an encrypted upstream nothing leads to an unencrypted host, listed or not")
    func downgrade() throws {
        #expect(try Self.rules().target(of: "http://pictures.test/a.jpg") != .listedHost)
        #expect(try Self.rules("http://api.test").target(of: "http://pictures.test/a.jpg") == .listedHost)
        #expect(try Self.rules("http://api.test").target(of: "https://pictures.test/a.jpg") == .listedHost)
    }

    @Test(
        "Location is resolved against the URL of the response, without fragment",
        arguments: [
            ("/b", "https://api.test/b"), ("b", "https://api.test/v4/b"), ("../b", "https://api.test/b"),
            ("?q=1", "https://api.test/v4/a?q=1"),
            ("//pictures.test/x", "https://pictures.test/x"), ("https://cdn.test/x#part", "https://cdn.test/x"),
            ("b%20c", "https://api.test/v4/b%20c"), ("b%0d%0ac: d", "https://api.test/v4/b%0d%0ac:%20d"),
            ("https://cdn.test/x%0d%0aA: 1?q=%20 %", "https://cdn.test/x%0d%0aA:%201?q=%20%20%"),
        ]
    )
    func locations(location: String, expected: String) {
        #expect(TargetRules.resolve(location: location, from: "https://api.test/v4/a?old=1") == expected)
    }

    private static func catalogue(trusted: [String] = []) throws -> TargetRules {
        let base = try #require(URL(string: "https://api.test/v1"))
        return TargetRules(
            UpstreamConfiguration(name: "c", title: "C", baseURL: base, followsPublicLinks: true, trustedHosts: trusted)
        )
    }

    @Test(
        "If links may lead to any public host, they may at its usual ports, with and without encryption",
        arguments: [
            "https://any.test/a", "http://any.test/a", "http://any.test:80/a", "https://any.test:443/a",
            "http://127.0.0.1/a", "http://[::1]/a",
        ]
    )
    func publicLinks(url: String) throws {
        // The address is checked when connected.
        #expect(try Self.catalogue().target(of: url) == .listedHost)
    }

    @Test(
        "other ports, schemes and credentials are refused all the same",
        arguments: [
            "https://any.test:80/a", "http://any.test:22/a", "http://127.0.0.1:8080/a", "ftp://any.test/a",
            "https://u@any.test/a", "//any.test/a", "a",
        ]
    )
    func noPublicLink(url: String) throws {
        guard case .forbidden = try Self.catalogue().target(of: url) else { return #expect(Bool(false), "\(url)") }
    }

    @Test("a host that the operator vouches for is reached at any port and address")
    func trusted() throws {
        let rules = try Self.catalogue(trusted: ["Pictures.Local"])
        #expect(rules.target(of: "http://pictures.local:9000/a") == .trustedHost)
        #expect(rules.target(of: "http://other.local:9000/a") != .trustedHost)
        #expect(rules.target(of: "https://u@pictures.local/a") != .trustedHost)
        #expect(rules.target(of: "https://api.test/v1/x") == .ownOrigin)
    }
}

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
