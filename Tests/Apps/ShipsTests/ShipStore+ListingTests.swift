import Database
import Foundation
import GRDB
import ResponseStore
import Screens
import TestKit
import Testing

@testable import Ships

@Suite("Pages of ships")
struct ShipStoreListingTests {
    private let store: ShipStore

    init() throws {
        store = ShipStore(try .temporary(migrations: ShipsApp.migrations))
    }

    private func merge(_ records: [String]) throws {
        let ships = try ShipFixtures.ships(records)
        _ = try store.database.write { try ShipStore.merge(ships.map(ShipColumns.init), in: $0) }
    }

    private func ids(limit: Int, offset: Int, account: String = "me") throws -> [String] {
        try store.list(account: account, page: PageRequest(limit: limit, offset: offset), since: nil).ships.map(\.id)
    }

    @Test("SHIP-04 equal names stand in the order of their ids")
    func ties() throws {
        try merge([
            ShipFixtures.record("c", "Same"), ShipFixtures.record("a", "SAME"), ShipFixtures.record("b", "same"),
            ShipFixtures.record("A", "same"),
        ])
        #expect(try ids(limit: 9, offset: 0) == ["A", "a", "b", "c"])
    }

    @Test("SHIP-04 the order is the same whatever the order of the response")
    func stable() throws {
        try merge(ShipFixtures.fleet.reversed())
        #expect(try ids(limit: 9, offset: 0) == ["a1", "b0b", "ca", "d0"])
    }

    @Test("10,000 ships in pages: each once, in order, without those deleted")
    func many() async throws {
        try merge((0..<10_000).map { ShipFixtures.record("id\($0)", "Ship \(($0 * 7919) % 10_000)") })
        for number in [0, 499, 5000, 9999] { _ = try await store.hide("id\(number)", account: "me") }
        var seen: [ShipListing.Entry] = []
        for offset in stride(from: 0, to: 10_000, by: 500) {
            seen += try store.list(account: "me", page: PageRequest(limit: 500, offset: offset), since: 1).ships
        }
        #expect(seen.count == 9996)
        #expect(Set(seen.map(\.id)).count == 9996)
        let keys = seen.map { Ship.sortKey(of: $0.name) }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        let counts = try store.list(account: "me", page: PageRequest(limit: 1), since: nil).counts
        #expect((counts.total, counts.hidden) == (9996, 4))
    }

    @Test("past the end there is nothing, however far", arguments: [4, 500, Int.max])
    func pastTheEnd(offset: Int) throws {
        try merge(ShipFixtures.fleet)
        #expect(try ids(limit: 500, offset: offset) == [])
    }

    private func plan(_ sql: String, _ arguments: StatementArguments) throws -> [String] {
        try QueryPlan(sql, arguments, in: store.database).steps
    }

    @Test("a page walks the index of names and sorts nothing")
    func pagePlan() throws {
        let plan = try plan(ShipStore.selectPage, ["account": "me", "limit": 10, "offset": 0])
        #expect(plan.contains("SCAN ship USING INDEX ship_by_name"))
        #expect(plan.filter { $0.hasPrefix("SCAN") }.count == 1)
        #expect(plan.contains { $0.hasPrefix("SEARCH mine USING PRIMARY KEY (account=? AND ship_id=?") })
        #expect(!plan.contains { $0.contains("TEMP B-TREE") })
    }

    @Test("how many ships there are is looked up, not counted")
    func countsPlan() throws {
        let plan = try plan(ShipListing.Counts.select, ["account": "me"])
        #expect(
            plan.contains("SCAN ship_revision") && !plan.contains { $0.hasPrefix("SCAN ship ") || $0 == "SCAN ship" },
            "\(plan)"
        )
    }

    @Test("the number of ships follows all that comes and goes")
    func counts() throws {
        func expectCounted(_ count: Int) throws {
            let (kept, counted) = try store.database.read { db in
                (
                    try ShipListing.Counts(db, account: "me").total,
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM ship WHERE removed_revision IS NULL")
                )
            }
            #expect(kept == count && counted == count)
        }
        func write(_ sql: String) throws { try store.database.write { try $0.execute(sql: sql) } }
        try merge(ShipFixtures.fleet)
        try expectCounted(4)
        // As ships of the snapshot that the upstream does not know.
        try write("UPDATE ship SET from_snapshot = 1 WHERE id IN ('a1', 'b0b')")
        try merge([ShipFixtures.carl, ShipFixtures.dora])
        try expectCounted(2)
        try merge([ShipFixtures.alma, ShipFixtures.carl])
        try expectCounted(3)
        try write("UPDATE ship SET removed_revision = 9 WHERE id = 'a1'")
        try expectCounted(2)
        try write("UPDATE ship SET removed_revision = NULL WHERE id = 'a1'; DELETE FROM ship WHERE id = 'b0b'")
        try expectCounted(3)
        try write("DELETE FROM ship")
        try expectCounted(0)
    }

    @Test("details are one search by key")
    func detailsPlan() throws {
        let plan = try plan(ShipStore.selectShip, ["account": "me", "id": "a1"])
        #expect(plan.contains("SEARCH ship USING PRIMARY KEY (id=?)"))
        #expect(!plan.contains { $0.hasPrefix("SCAN") && !$0.contains("CONSTANT ROW") })
    }

    @Test("changes are found by revision, not by looking at every ship")
    func changesPlan() throws {
        let plan = try plan(ShipStore.selectChanged, ["account": "me", "since": 7, "most": 101])
        #expect(
            plan.contains { $0.hasPrefix("SEARCH ship USING") && $0.contains("ship_by_change (changed_revision>?)") }
        )
        #expect(
            plan.contains {
                $0.hasPrefix("SEARCH ship_of_account USING")
                    && $0.contains("ship_of_account_by_revision (account=? AND revision>?)")
            }
        )
        #expect(!plan.contains { $0.hasPrefix("SCAN ship") })
    }

    @Test("an account without deletions looks up neither marks nor ships that have not changed")
    func plansOfAll() throws {
        let changes = try plan(ShipStore.selectChangedOfAll, ["since": 7, "most": 101])
        #expect(changes.contains { $0.hasPrefix("SEARCH ship USING") && $0.contains("changed_revision>?") })
        let page = try plan(ShipStore.selectPageOfAll, ["limit": 10, "offset": 0])
        #expect(page == ["SCAN ship USING INDEX ship_by_name"])
    }
}
