import Foundation
import TestKit
import Testing

/// Processes that serve some of the apps each.
@Suite(.timeLimit(.minutes(5))) struct NodeTests {
    @Test("SCALE-19 Apps and upstreams of other processes are 421 by every method, and nothing of them is stored")
    func misdirected() async throws {
        let larder = try await RunningLarder.start(
            data: TemporaryFolder(),
            ["--sandbox", "--node-name", "n1", "--node-apps", "ships,notes"]
        )
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
}
