import Foundation
import TestKit
import Testing

/// Processes that serve some of the apps each.
@Suite(.timeLimit(.minutes(5))) struct NodeTests {
    @Test("SCALE-19 Apps and upstreams of other processes are 421 by every method, and nothing of them is stored")
    func misdirected() async throws {
        let larder = try await RunningLarder.start(["--sandbox", "--node-name", "n1", "--node-apps", "ships,notes"])
        let client = larder.client
        let requests = [
            ("GET", "/v1/shop/catalogue"), ("HEAD", "/v1/shop/catalogue"), ("POST", "/v1/shop/list/items"),
            ("DELETE", "/v1/disk/session"), ("OPTIONS", "/v1/pdf/documents"), ("GET", "/v1/shop/no-such-screen"),
            ("GET", "/v1/upstreams/catalogue/api/v1/products"), ("POST", "/v1/upstreams/yandex_disk/x"),
            ("GET", "/v1/events?app=shop"),
        ]
        for (method, path) in requests {
            let response = try await client.send(method, path)
            #expect(response.status == 421, "\(method) \(path): \(response.text)")
            guard method != "HEAD" else { continue }
            #expect(try response.json.code.string == "misdirected-request", "\(method) \(path)")
            #expect(response["cache-control"] == "no-store")
        }
        #expect(try await client.get("/v1/elsewhere").status == 404)
        let status = try await client.get("/v1/status").json.data
        #expect(status.node.name.string == "n1")
        #expect(status.node.apps.elements.compactMap(\.string) == ["ships", "notes"])
        #expect(status.cache.by_upstream.elements.isEmpty)
        #expect(try await client.get("/v1").json.data.apps.elements.count == 2)
        let guest = try await larder.guest()
        #expect(try await guest.get("/v1/ships").status == 200)
        #expect(try await client.get("/v1/upstreams/spacex/v4/ships").status == 200)
        #expect(try await client.get("/metrics").text.contains(#"larder_node_info{node="n1"} 1"#))
        #expect(await larder.stop() == 0)
        #expect(larder.process.log.contains("node=n1"))
    }

    @Test("SCALE-01 without a shared store, no library of PostgreSQL is in the process, whatever it serves")
    func withoutStore() async throws {
        let larder = try await TestedLarder.start()
        let paths = ["ships/launch", "shop/categories", "pdf/documents", "disk/onboarding", "notes/launch", "status"]
        for path in paths { #expect(try await larder.client.get("/v1/\(path)").status == 200, "\(path)") }
        #expect(try await larder.client.writer("alice").get("/v1/notes").status == 200)
        #expect(try await larder.larder.guest().get("/v1/ships").status == 200)
        let pid = try #require(larder.larder.process.pid)
        let maps = try String(contentsOf: URL(filePath: "/proc/\(pid)/maps"), encoding: .utf8)
        #expect(maps.contains("libc.so"))
        #expect(!maps.contains("libpq"))
    }

    /// The statuses of wrong passwords, each for another name, that claim to come from these addresses.
    private func wrongPasswords(_ client: Client, from addresses: [String]) async throws -> [Int] {
        let path = "/v1/notes/session"
        var statuses: [Int] = []
        for (number, address) in addresses.enumerated() {
            let login = Client.account("user\(number)", "login", password: "wrong password")
            let response = try await client.send("POST", path, ["X-Forwarded-For": address], body: login)
            statuses.append(response.status)
        }
        return statuses
    }

    @Test("SCALE-12 wrong passwords count for the address that a trusted proxy names; a forged one is none")
    func addresses() async throws {
        let settings = ["--notes-attempts-per-address", "3"]
        let claimed = (1...5).map { "203.0.113.\($0)" }
        let direct = try await TestedLarder.start(settings)
        #expect(try await wrongPasswords(direct.client, from: claimed) == [401, 401, 401, 429, 429])
        let behind = try await TestedLarder.start(settings + ["--http-trusted-proxies", "127.0.0.0/8"])
        #expect(try await wrongPasswords(behind.client, from: claimed) == [401, 401, 401, 401, 401])
        // Addresses in front of the one that the proxy adds were sent by the client, and are not trusted.
        let forged = (1...5).map { "203.0.113.\($0), 192.0.2.7" }
        #expect(try await wrongPasswords(behind.client, from: forged) == [401, 401, 401, 429, 429])
    }
}
