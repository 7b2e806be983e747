import Screens
import Storage
import TestKit
import Testing

@testable import Ships

@Suite("Deleting and restoring in the database")
struct ShipStoreDeletionsTests {
    private let store: ShipStore

    init() throws {
        store = ShipStore(try .temporary(migrations: ShipsApp.migrations))
        try merge(ShipFixtures.fleet)
    }

    private func merge(_ records: [String]) throws {
        let ships = try ShipFixtures.ships(records)
        _ = try store.database.write { try ShipStore.merge(ships.map(ShipColumns.init), in: $0) }
    }

    private func list(_ account: String, since: Int? = nil) throws -> ShipPage {
        try store.list(account: account, page: PageRequest(limit: 500), since: since)
    }

    @Test("SHIP-08 a deleted ship is away for its account only, and counted")
    func hide() async throws {
        let counts = try #require(try await store.hide("b0b", account: "me"))
        #expect((counts.revision, counts.hidden, counts.total) == (2, 1, 3))
        #expect(try list("me").ships.map(\.id) == ["a1", "ca", "d0"])
        #expect(try store.ship("b0b", account: "me")?.isHidden == true)
        #expect(try list("you").ships.count == 4)
        #expect(try list("you").counts.revision == 1)
        #expect(try store.ship("b0b", account: "you")?.isHidden == false)
    }

    @Test("deleting twice, or what is not there, does nothing")
    func nothing() async throws {
        _ = try await store.hide("b0b", account: "me")
        #expect(try await store.hide("b0b", account: "me") == nil)
        #expect(try await store.hide("none", account: "me") == nil)
        #expect(try list("me").counts.revision == 2)
    }

    @Test("SHIP-08 refreshing restores nothing, not even a ship that was updated, vanished and returned")
    func refresh() async throws {
        _ = try await store.hide("b0b", account: "me")
        try merge([ShipFixtures.alma, ShipFixtures.record("b0b", "Bobby")])
        try merge([ShipFixtures.alma])
        try merge(ShipFixtures.fleet)
        #expect(try list("me").ships.map(\.id) == ["a1", "ca", "d0"])
        #expect(try list("me", since: 1).changes.removed == ["b0b"])
    }

    @Test("SHIP-08 restoring restores the named ships, or all, of the own account")
    func restore() async throws {
        for id in ["a1", "b0b", "ca"] { _ = try await store.hide(id, account: "me") }
        _ = try await store.hide("d0", account: "you")
        let some = try await store.restore(["ca", "d0", "ca", "none"], account: "me")
        #expect(some.restored == ["ca"])
        #expect((some.counts.hidden, some.counts.total) == (2, 2))
        let all = try await store.restore(nil, account: "me")
        #expect(all.restored == ["a1", "b0b"])
        #expect(all.counts.hidden == 0)
        let none = try await store.restore(nil, account: "me")
        #expect(none.restored == [])
        #expect(none.counts == all.counts)
        #expect(try store.accountsWithHiddenShips() == ["you"])
    }

    @Test("of many deletions of one ship a few are remembered")
    func bounded() async throws {
        for _ in 0..<20 {
            _ = try await store.hide("b0b", account: "me")
            _ = try await store.restore(nil, account: "me")
        }
        let rows = try store.database.integer("SELECT count(*) FROM ship_of_account")
        #expect(rows == ShipStore.keptMarks)
        #expect(try list("me").ships.count == 4)
    }

    @Test("concurrent deletions of one ship: one of them did it")
    func concurrent() async throws {
        let store = self.store
        let done = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { try await store.hide("b0b", account: "me") != nil } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(done == 1)
        #expect(try list("me").counts.revision == 2)
    }
}
