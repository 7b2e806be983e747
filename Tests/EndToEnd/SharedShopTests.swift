import Foundation
import TestKit
import Testing

/// Two processes that serve the Shop and the ships from one PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct SharedShopTests {
    private static func status(_ client: Client, adding id: Int) async throws -> Int {
        try await client.post("/v1/shop/list/items", #"{"product_id":\#(id)}"#).status
    }

    /// Starts a sandbox, and two processes that share a store.
    private static func two(_ server: RunningPostgres) async throws -> (RunningSandbox, RunningLarder, RunningLarder) {
        let schema = try server.schema()
        // One API: addresses of pictures have the port of the sandbox.
        let sandbox = try await RunningSandbox.start()
        let catalogue = sandbox.settings("catalogue")
        let upstream = sandbox.spacex
        let one = try await RunningLarder.sharing(server, schema, apps: "shop,ships", upstream: upstream, catalogue)
        let two = try await RunningLarder.sharing(server, schema, apps: "shop,ships", upstream: upstream, catalogue)
        return (sandbox, one, two)
    }

    /// Adds forty products on both processes at once; both have the whole list then.
    private static func fill(_ one: RunningLarder, _ two: RunningLarder) async throws {
        let statuses = try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
            for id in 1...40 {
                for larder in [one, two] { group.addTask { try await status(larder.client, adding: id) } }
            }
            var statuses: [Int] = []
            for try await status in group { statuses.append(status) }
            return statuses
        }
        let (created, found) = (statuses.count { $0 == 201 }, statuses.count { $0 == 200 })
        #expect(created == 40 && found == 40)
        for larder in [one, two] {
            let isWhole = { @Sendable () async -> Bool in
                guard let list = try? await larder.client.get("/v1/shop/list").json else { return false }
                let ids = Set(list.data.items.elements.compactMap(\.product_id.int))
                return ids == Set(1...40) && list.meta.revision.int == 40
            }
            await BoundedWait.poll(for: "the whole list") { await isWhole() }
        }
    }

    @Test("SCALE-04 SCALE-15 SHOP-23 One list of two processes has each addition once, of two changes of a version one")
    func lists() async throws {
        let (sandbox, one, two) = try await Self.two(await RunningPostgres.shared.value)
        defer { withExtendedLifetime(sandbox) {} }
        try await Self.fill(one, two)
        let body = #"{"quantity":7}"#
        let path = "/v1/shop/list/items/5"
        async let first = one.client.send("PATCH", path, ["If-Match": "\"40\""], body: body)
        async let second = two.client.send("PATCH", path, ["If-Match": "\"40\""], body: body)
        let outcomes = try await [first.status, second.status].sorted()
        #expect(outcomes == [200, 412])
        let presses = try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
            for larder in [one, two] {
                for _ in 0..<8 {
                    group.addTask { try await larder.client.send("PATCH", path, body: #"{"by":1}"#).status }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let total = try await one.client.send("PATCH", path, body: #"{"by":0}"#).json.data.item.quantity.int
        #expect(presses == Array(repeating: 200, count: 16) && total == 23)
        // The last search is the profile's, wherever it was made.
        _ = try await one.client.get("/v1/shop/search?q=mug")
        let hasMoved = { @Sendable () async -> Bool in
            let saved = try? await two.client.get("/v1/shop/search?saved=1").json
            return saved?.data.query.q.string == "mug"
        }
        await BoundedWait.poll(for: "the search of the other process") { await hasMoved() }
        for larder in [one, two] {
            let status = await larder.stop()
            #expect(status == 0)
        }
    }

    @Test("SCALE-03 SHIP-07 A ship that is deleted on one process is gone on the other, at the same revision")
    func ships() async throws {
        let server = try await RunningPostgres.shared.value
        let schema = try server.schema()
        // One API: addresses of pictures have the port of the sandbox.
        let sandbox = try await RunningSandbox.start()
        let one = try await RunningLarder.sharing(server, schema, apps: "ships", upstream: sandbox.spacex)
        let two = try await RunningLarder.sharing(server, schema, apps: "ships", upstream: sandbox.spacex)
        let login = #"{"mode":"login","username":"example@domain.com","password":"secret"}"#
        let client = try await one.client.session("ships", login)
        let elsewhere = client.moved(to: two)
        let ships = try await client.get("/v1/ships").json
        let others = try await elsewhere.get("/v1/ships").json
        let total = try #require(ships.meta.page.total.int)
        #expect(total > 20 && others.meta.page.total.int == total)
        #expect(others.meta.revision.int == ships.meta.revision.int)
        let id = try #require(ships.data.items[0].id.string)
        let deleted = try await client.delete("/v1/ships/\(id)")
        #expect(deleted.status == 200)
        let isGone = { @Sendable () async -> Bool in
            let list = try? await elsewhere.get("/v1/ships").json
            return list?.meta.page.total.int == total - 1
        }
        await BoundedWait.poll(for: "the deletion on the other process") { await isGone() }
        let revision = try await elsewhere.get("/v1/ships").json.meta.revision.int
        #expect(try deleted.json.data.revision.int == revision)
        for larder in [one, two] {
            let status = await larder.stop()
            #expect(status == 0)
        }
    }

    /// Deletes a ship on one process: the other sends the event, and no longer has the ship.
    private static func delete(_ id: String, _ client: Client, heardAt elsewhere: Client) async throws {
        let token = try #require(client.token)
        let heard = try await EventListener.open(
            elsewhere.base + "/v1/events?app=ships",
            ["Authorization": "Bearer \(token)"]
        )
        #expect(try await client.delete("/v1/ships/\(id)").status == 200)
        // Who follows an event sees the change, wherever the event was heard.
        #expect(try await heard.next("screen-changed") != nil)
        #expect(try await elsewhere.get("/v1/ships/\(id)").status == 404)
    }

    /// Expects that ships are shown, and none is deleted.
    private static func expectOnlyShown(_ ship: String?, _ client: Client) async throws {
        await BoundedWait.poll(for: "ships as they were") {
            (try? await client.get("/v1/ships?limit=2").json.meta.banner.code.string) == "store-unavailable"
        }
        let shown = try await client.get("/v1/ships?limit=2")
        #expect(try shown.status == 200 && shown.json.meta.stale.bool == true)
        #expect(try shown.json.data.items[0].id.string == ship && shown.json.meta.banner.text.string != nil)
        let refused = try await client.delete("/v1/ships/\(ship ?? "")")
        #expect(try refused.status == 503 && refused.json.code.string == "store-unavailable")
    }

    /// Expects that the list with product 5 is shown, and not changed.
    private static func expectOnlyShown(_ larder: RunningLarder) async throws {
        let list = try await larder.client.get("/v1/shop/list").json
        #expect(list.meta.stale.bool == true && list.meta.banner.code.string == "store-unavailable")
        #expect(list.data.items.elements.map(\.product_id.int) == [5])
        #expect(try await larder.client.get("/v1/shop/search?q=mug").status == 200)
        #expect(try await status(larder.client, adding: 6) == 503)
        #expect(try await larder.client.get("/v1/export").status == 503)
    }

    @Test("SCALE-23 SCALE-10 Without PostgreSQL lists and ships stay, also for a session of the other process")
    func withoutStore() async throws {
        let postgres = try await RunningPostgres.start()
        let (sandbox, one, two) = try await Self.two(postgres)
        defer { withExtendedLifetime(sandbox) {} }
        #expect(try await Self.status(one.client, adding: 5) == 201)
        #expect(try await two.client.get("/v1/shop/list").json.data.items.elements.count == 1)
        let client = try await one.guest()
        let elsewhere = client.moved(to: two)
        let all = try await client.get("/v1/ships?limit=2").json.data.items.elements.map(\.id.string)
        let other = try await elsewhere.get("/v1/ships?limit=2").json
        #expect(other.data.items.elements.map(\.id.string) == all)
        try await Self.delete(try #require(all[0]), client, heardAt: elsewhere)
        try postgres.stop("immediate")
        for client in [client, elsewhere] { try await Self.expectOnlyShown(all[1], client) }
        #expect(try await two.client.get("/v1/ships").status == 401)
        for larder in [one, two] { try await Self.expectOnlyShown(larder) }
        try postgres.restart()
        for client in [client, elsewhere] {
            await BoundedWait.poll(for: "the store") {
                (try? await client.get("/v1/ships?limit=2").json.meta.stale.bool) == false
            }
        }
        #expect(try await elsewhere.post("/v1/ships/restore", "{}").status == 200)
        #expect(try await Self.status(two.client, adding: 6) == 201)
        #expect(try await one.client.get("/v1/shop/list").json.data.totals.items.int == 2)
        for larder in [one, two] { #expect(await larder.stop() == 0) }
        // The directory of one of several is not one for a process by itself.
        let alone = RunningProcess(["serve", "--http-port", "0", "--data-directory", one.data.path, "--sandbox"])
        #expect(await alone.ended() == 78)
        #expect(alone.log.contains("larder store copy"))
    }
}
