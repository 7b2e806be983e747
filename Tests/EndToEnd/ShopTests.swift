import Foundation
import TestKit
import Testing

/// The Shop app of the real executable, over a socket.
@Suite(.timeLimit(.minutes(10))) struct ShopTests {
    /// Kills the process while it puts products on the list, and returns those that it has acknowledged.
    private static func killAmongWrites(_ larder: RunningLarder) async -> Set<Int> {
        let acknowledged = await withTaskGroup(of: Int?.self, returning: Set<Int>.self) { group in
            for id in 1...40 {
                group.addTask {
                    (try? await larder.client.post("/v1/shop/list/items", #"{"product_id":\#(id)}"#))?.status == 201
                        ? id : nil
                }
            }
            var done: Set<Int> = []
            for await id in group {
                if let id { done.insert(id) }
                if done.count == 5 { larder.process.signal(SIGKILL) }
            }
            return done
        }
        await larder.process.ended()
        return acknowledged
    }

    @Test("SHOP-09 SHOP-13 SHOP-16 products, searches and lists outlive kill -9 during writes, and are usable offline")
    func survivesKill() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let upstream = sandbox.settings("catalogue")
        let first = try await RunningLarder.start(data: data, upstream: sandbox.spacex, upstream)
        #expect(try await first.client.get("/v1/shop/search?limit=100").json.data.items.elements.count == 67)
        let found = try await first.client.get("/v1/shop/search?q=mug&price_max=9").json
        #expect(found.data.items.elements.map(\.id.int) == [53])
        let picture = try await first.client.get("/v1/shop/images/53/0")
        #expect(picture["Content-Type"] == "image/png" && picture["Cache-Control"] == "private, no-cache")
        #expect(try await first.client.post("/v1/shop/list/items", #"{"product_id":53,"quantity":2}"#).status == 201)
        let acknowledged = await Self.killAmongWrites(first)
        await sandbox.kill9()

        // Nothing is fresh: that the upstream is away shows in the first response.
        let second = try await RunningLarder.start(
            data: data,
            upstream: sandbox.spacex,
            upstream + ["--freshness-shop-s", "0"]
        )
        let list = try await second.client.get("/v1/shop/list").json
        let ids = list.data.items.elements.compactMap(\.product_id.int)
        #expect(ids.first == 53 && acknowledged.isSubset(of: ids) && Set(ids).count == ids.count)
        #expect(list.data.items[0].quantity.int == 2 && list.data.items[0].line_total_text.string == "17$")
        #expect(list.meta.revision.int == ids.count)
        let saved = try await second.client.get("/v1/shop/search?saved=1").json
        #expect(
            saved.data.query.q.string == "mug" && saved.data.items.elements.map(\.id.int) == [53]
                && saved.meta.offline.bool == true
        )
        let unseen = try await second.client.get("/v1/shop/search?q=%D0%9B%D0%90%D0%9C%D0%9F%D0%90").json
        #expect(unseen.data.items.elements.map(\.id.int) == [19, 20] && unseen.meta.partial.bool == true)
        #expect(try await second.client.get("/v1/shop/images/53/0").body == picture.body)
        #expect(try await second.client.send("PATCH", "/v1/shop/list/items/53", body: #"{"quantity":3}"#).status == 200)
        #expect(await second.stop() == 0)
    }

    @Test("SHOP-11 no picture of the catalogue leads into this machine, by address, name, redirect; a trusted host may")
    func inside() async throws {
        let (data, sandbox, other) = (
            try TemporaryFolder(), try await RunningSandbox.start(), try await RunningSandbox.start()
        )
        let upstream = sandbox.settings("catalogue")
        let inside = "\(other.base)/catalogue/images/inside.png"
        for (id, address) in [
            (1, inside), (2, inside.replacing("127.0.0.1", with: "localhost")),
            (3, "\(sandbox.base)/catalogue/images/ok.png"),
        ] {
            _ = try await sandbox.control.put("/catalogue/products/\(id)", #"{"images":["\#(address)"]}"#)
        }
        let larder = try await RunningLarder.start(data: data, upstream: sandbox.spacex, upstream)
        _ = try await larder.client.get("/v1/shop/search")
        // 64 is redirected into the machine.
        _ = try await larder.client.get("/v1/shop/products/64")
        for id in [1, 2, 64] {
            #expect(
                try await larder.client.get("/v1/shop/images/\(id)/0")["Cache-Status"]?.hasSuffix("detail=placeholder")
                    == true,
                "\(id)"
            )
        }
        #expect(try await larder.client.get("/v1/shop/images/3/0")["Cache-Status"] == "larder; fwd=uri-miss; stored")
        #expect(try await other.control.get("/journal").json.entries.elements.isEmpty)
        #expect(await larder.stop() == 0)
        let trusting = try await RunningLarder.start(
            data: data,
            upstream: sandbox.spacex,
            upstream + ["--shop-picture-hosts", "127.0.0.1"]
        )
        #expect(try await trusting.client.get("/v1/shop/images/1/0")["Cache-Status"] == "larder; fwd=uri-miss; stored")
        #expect(await trusting.stop() == 0)
    }

    @Test("SHOP-15 a cached response ends with each change of the list and each search of its profile")
    func cachedResponses() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(
            upstream: sandbox.spacex,
            sandbox.settings("catalogue")
        )
        func quantity() async throws -> Int? {
            try await larder.client.get("/v1/shop/search?q=hoodie").json.data.items[0].cart.quantity.int
        }
        for _ in 0..<3 { #expect(try await quantity() == 0) }
        _ = try await larder.client.post("/v1/shop/list/items", #"{"product_id":2,"quantity":4}"#)
        for _ in 0..<3 { #expect(try await quantity() == 4) }
        _ = try await larder.client.get("/v1/shop/search?q=mug")
        #expect(
            try await larder.client.get("/v1/shop/history").json.data.items.elements.map(\.q.string) == [
                "mug", "hoodie",
            ]
        )
        _ = try await quantity()
        #expect(
            try await larder.client.get("/v1/shop/history").json.data.items.elements.map(\.q.string) == [
                "hoodie", "mug",
            ]
        )
        _ = try await larder.client.delete("/v1/shop/list")
        for _ in 0..<3 { #expect(try await quantity() == 0) }
        #expect(await larder.stop() == 0)
    }

    @Test("SHOP-04 a page far behind is reached by following next, though the pages on the way have the same address")
    func longJump() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(
            upstream: sandbox.spacex,
            [
                "--upstreams-catalogue-url", sandbox.base + "/catalogue",
                // Each of the parts on the way is fetched from the upstream, however busy the machine is.
                "--upstreams-catalogue-patience-ms", "60000", "--upstreams-catalogue-total-timeout-ms", "60000",
            ]
        )
        _ = try await sandbox.control.put("/catalogue/generated", #"{"count":6000,"seed":1}"#)
        var (next, counts): (String?, [Int]) = ("/v1/shop/search?price_max=1000000&limit=5&offset=5500", [])
        for _ in 0..<2 {
            let page = try await larder.client.get(try #require(next)).json
            counts.append(page.data.items.elements.count)
            next = page.links.next.string
        }
        #expect(counts == [0, 5] && next?.hasPrefix("/v1/shop/search?price_max=1000000&limit=5&cursor=") == true)
        #expect(await larder.stop() == 0)
    }
}
