import Foundation
import HTTPTypes
import Server
import TestKit
import Testing

@testable import Screens

struct AccessRulesTests {
    private let rules = AccessRules(
        .pairing,
        proxies: TrustedProxies(["127.0.0.9"].compactMap { AddressRange($0) }),
        origins: OriginRules(allowed: ["https://shop.example"])
    )

    private func isLocal(_ peer: String?, _ authority: String?, _ fields: HTTPFields = [:]) -> Bool {
        rules.isLocal(from: peer.flatMap { IPAddress($0) }, authority: authority, fields)
    }

    @Test(
        "SRV-17 local is what a program of this machine sends to a name of the loopback interface",
        arguments: ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"],
        ["localhost", "LOCALHOST:8080", "larder.localhost", "127.0.0.1:8080", "[::1]:8080"]
    )
    func local(peer: String, authority: String) {
        #expect(isLocal(peer, authority))
    }

    @Test("SRV-17 other addresses, other names and proxies are not local, whatever fields say")
    func foreign() {
        for peer in ["192.168.1.7", "10.0.0.1", "fd00::1", "::", "0.0.0.0"] { #expect(!isLocal(peer, "localhost")) }
        #expect(!isLocal(nil, "localhost"))
        for authority in ["phone.test", "larder.example:8080", "192.168.1.2", "localhost.evil.test", "a@localhost", ""]
        {
            #expect(!isLocal("127.0.0.1", authority), "\(authority)")
        }
        #expect(!isLocal("127.0.0.1", nil))
        #expect(!isLocal("127.0.0.9", "localhost"), "a trusted proxy")
        let claims: HTTPFields = [HTTPField.Name("X-Forwarded-For").unsafelyUnwrapped: "127.0.0.1"]
        #expect(!isLocal("192.168.1.7", "localhost", claims) && !isLocal("127.0.0.9", "localhost", claims))
    }

    @Test(
        "SRV-17 what a proxy has passed on is not local",
        arguments: [
            "Forwarded", "Via", "X-Forwarded-For", "x-forwarded-proto", "X-Forwarded-Host", "X-Real-IP",
            "CF-Connecting-IP", "True-Client-IP",
        ]
    )
    func passedOn(name: String) throws {
        let name = try #require(HTTPField.Name(name))
        #expect(!isLocal("127.0.0.1", "localhost", [name: "127.0.0.1"]) && isLocal("127.0.0.1", "localhost"))
    }

    private func isOpen(_ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:]) -> Bool {
        let head = HTTPRequest(method: method, scheme: "http", authority: "a", path: path, headerFields: fields)
        return rules.isOpen(head, path: path)
    }

    @Test("SRV-17 what is open before pairing: the page with its two files, the code, the probes, preflights")
    func open() {
        for path in ["/pair", "/health/live", "/health/ready", "/web/0a1b/pair.js", "/web/0a1b/pair.css"] {
            #expect(isOpen(.get, path) && isOpen(.head, path) && !isOpen(.post, path), "\(path)")
        }
        #expect(isOpen(.post, "/v1/pairing") && !isOpen(.get, "/v1/pairing") && !isOpen(.delete, "/v1/pairing"))
        let preflight: HTTPFields = [.accessControlRequestMethod: "PUT", .origin: "https://shop.example"]
        #expect(isOpen(.options, "/v1/shop/list", preflight) && !isOpen(.put, "/v1/shop/list", preflight))
        #expect(!isOpen(.options, "/v1/shop/list", [.origin: "https://shop.example"]))
        #expect(!isOpen(.options, "/v1", [.accessControlRequestMethod: "PUT", .origin: "https://evil.example"]))
    }

    @Test(
        "SRV-17 nothing else is",
        arguments: [
            "/", "/v1", "/metrics", "/v1/events", "/v1/devices", "/v1/pairing/code", "/openapi.yaml",
            "/web/0a1b/main.js",
            "/web/pair.js", "/web/a/b/pair.js", "/v1/web/a/pair.js", "//web/a/pair.js", "/pair/", "/pair.html",
            "/v1/upstreams/spacex/health/live", "/health", "/health/live/", "/web/a/pair.js/", "/v1/pairing/",
            "/web/%2e%2e/pair.js/../main.js",
        ]
    )
    func closed(path: String) {
        #expect(!isOpen(.get, path) && !isOpen(.post, path))
    }
}

struct OperatorKeyTests {
    private static let text = "correct horse battery staple 0123"

    @Test("SRV-17 a key has at least 32 characters, and opens if it is sent whole and once")
    func opens() throws {
        #expect(OperatorKey("") == nil && OperatorKey(String(repeating: "x", count: 31)) == nil)
        let key = try #require(OperatorKey(Self.text))
        #expect(key.opens([.larderOperator: Self.text]))
        for wrong in ["", "x", Self.text + "x", String(Self.text.dropLast()), Self.text.uppercased()] {
            #expect(!key.opens([.larderOperator: wrong]), "\(wrong)")
        }
        var twice: HTTPFields = [.larderOperator: Self.text]
        twice.append(HTTPField(name: .larderOperator, value: Self.text))
        #expect(!key.opens(twice) && !key.opens([:]) && !key.opens([.larderDevice: Self.text]))
    }

    @Test("SRV-17 a client from elsewhere with the operator's key makes codes, lists, revokes; with another it is 401")
    func operates() async throws {
        let harness = try DeviceHarness(operatorKey: OperatorKey(Self.text))
        let `operator` = DeviceHarness.Visitor(fields: [.larderOperator: Self.text])
        let made = try await harness.send(.post, "/v1/pairing/code", as: `operator`).response
        #expect(made.status == .created)
        let paired = try await harness.pair(try #require(try made.data().code.string))
        #expect(paired.status == .created)
        let (list, kept) = try await harness.send(.get, "/v1/devices", as: `operator`)
        #expect(list.status == .ok && kept == nil)
        let mine = try await harness.send(.get, "/v1/shop/mine?profile=bert", as: `operator`)
        #expect(mine.response.status == .ok && mine.changeToken == nil, "of any profile, and not kept")
        let id = try #require(harness.devices.all.first?.id)
        #expect(try await harness.send(.delete, "/v1/devices/\(id)", as: `operator`).response.status == .noContent)
        let stranger = DeviceHarness.Visitor(fields: [.larderOperator: Self.text + "x"])
        let refused = try await harness.send(.get, "/v1/devices", as: stranger).response
        #expect(try refused.code() == "pairing-required")
        let unset = try DeviceHarness()
        #expect(try await unset.send(.get, "/v1/devices", as: `operator`).response.code() == "pairing-required")
    }
}
