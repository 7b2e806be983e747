import GRDB
import Screens
import Storage
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

    @Test("SHIP-04 equal names are in the order of their ids")
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
        var seen: [ShipPage.Entry] = []
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
        let first = ShipStore.shipsOfAccount.first
        let plan = try plan(first, ["account": "me", "limit": 10, "offset": 0])
        #expect(plan.contains("SCAN ship USING INDEX ship_by_name"))
        #expect(plan.filter { $0.hasPrefix("SCAN") }.count == 1)
        #expect(plan.contains { $0.hasPrefix("SEARCH mine USING PRIMARY KEY (account=? AND ship_id=?") })
        #expect(!plan.contains { $0.contains("TEMP B-TREE") })
    }

    @Test("a page behind a ship is looked up in the index of names, and skips none", arguments: [true, false])
    func keyPlan(hiding: Bool) throws {
        let sql = hiding ? ShipStore.shipsOfAccount.next : ShipStore.ships.next
        let plan = try QueryPlan(sql, ["account": "me", "limit": 10, "key0": "a", "key1": "a"], in: store.database)
        #expect(plan.steps.first == "SEARCH ship USING INDEX ship_by_name ((sort_key,id)>(?,?))", "\(plan)")
        #expect(!plan.scans && !plan.sorts && !sql.contains("OFFSET"), "\(plan)")
    }

    @Test("SHIP-04 pages by key: each ship once, in order, whatever is deleted, added and renamed between two pages")
    func keys() async throws {
        var random = SeededRandom(seed: 89)
        var fleet = Dictionary(uniqueKeysWithValues: (0..<300).map { ("id\($0)", "Ship \($0 % 40)") })
        func list() -> [String] { fleet.map { ShipFixtures.record($0.key, $0.value) } }
        try merge(list())
        let lasting = Set(fleet.keys.filter { $0.hasSuffix("7") })
        var seen: [ShipPage.Entry] = []
        var key: [CursorValue]?
        repeat {
            let limit = Int.random(in: 1...9, using: &random)
            let page = try store.list(account: "me", page: PageRequest(limit: limit, after: key), since: nil)
            #expect(page.ships.count == limit || !page.hasMore)
            seen += page.ships
            key = page.hasMore ? page.ships.last.map { [.text($0.sortKey), .text($0.id)] } : nil
            let others = fleet.keys.filter { !lasting.contains($0) }.sorted()
            _ = try await store.hide(try #require(others.randomElement(using: &random)), account: "me")
            fleet[try #require(others.randomElement(using: &random))] = "Ship \(Int.random(in: 0..<40, using: &random))"
            fleet["new\(seen.count)"] = "Ship \(Int.random(in: 0..<40, using: &random))"
            try merge(list())
        } while key != nil
        #expect(lasting.isSubset(of: seen.map(\.id)))
        let keys = seen.map { Array("\($0.sortKey)\u{0}\($0.id)".utf8) }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }, "in order, none twice")
    }

    @Test("names that are longer than a cursor may be are ordered by their beginnings, then by ids")
    func longNames() throws {
        let long = String(repeating: "ж", count: 2000)
        try merge([ShipFixtures.record("b", long + "a"), ShipFixtures.record("a", long + "b")])
        #expect(try ids(limit: 9, offset: 0) == ["a", "b"])
        let key = try #require(try store.list(account: "me", page: PageRequest(limit: 1), since: nil).page.key)
        #expect(ShipPage.list(of: []).cursor(after: key).utf8.count < 1000)
    }

    @Test("how many ships there are is looked up, not counted")
    func countsPlan() throws {
        let plan = try plan(ShipPage.Counts.select, ["account": "me"])
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
                    try ShipPage.Counts(db, account: "me").total,
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
        let page = try plan(ShipStore.ships.first, ["limit": 10, "offset": 0])
        #expect(page == ["SCAN ship USING INDEX ship_by_name"])
    }
}
