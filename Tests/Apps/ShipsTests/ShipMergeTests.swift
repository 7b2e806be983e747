import FoundationEssentials
import GRDB
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("Merges of many ships, which are written in parts")
struct ShipMergeTests {
    /// Statements of a part besides those that change ships.
    private static let fewStatements = 20

    private static func ships(_ numbers: Range<Int>, _ members: String = "") -> [String] {
        numbers.map { ShipFixtures.record("id\($0)", "Ship \($0)", members) }
    }

    private let store: ShipStore

    init() throws {
        store = ShipStore(try .temporary(migrations: ShipsApp.migrations))
    }

    private func persistRows(_ records: [String]) throws -> Resource.PersistRows {
        store.persistRows(of: try ShipFixtures.ships(records), listedAt: .distantPast, after: nil) { _ in }
    }

    private func writeNext(_ persistRows: Resource.PersistRows) throws -> Bool {
        try store.database.write { try persistRows.writeNext(in: $0) }
    }

    private static func list(_ store: ShipStore, since: Int? = nil) throws -> ShipPage {
        try store.list(account: "me", page: PageRequest(limit: 5000), since: since)
    }

    @Test(
        "TRUST-19 whatever happens to thousands of ships at once, no transaction changes more than one part of them",
        arguments: ["new", "changed", "vanished"]
    )
    func parts(change: String) async throws {
        let (all, kept) = (Self.ships(0..<2500), Self.ships(0..<3))
        try await ShipsHarness.run(ScriptedSpaceX(.ships(change == "new" ? kept : all))) { app, token in
            _ = try await app.get("/v1/ships", as: token)
            let revision = try Self.list(app.store).counts.revision
            let changed = Self.ships(0..<2500, #""type":"Tug""#)
            app.spaceX.become(.ships(change == "vanished" ? kept : change == "new" ? all : changed))
            let longest = try await app.statements.longestTransaction {
                let refreshed = try await app.get("/v1/ships?refresh=1", as: token)
                #expect(refreshed["meta.stale"] == false)
            }
            let most = ShipMerge.largestPart + Self.fewStatements
            #expect(longest > ShipMerge.largestPart && longest <= most, "\(longest)")
            let changes = try Self.list(app.store, since: revision).changes
            #expect(changes.added.count + changes.updated.count == (change == "changed" ? 2500 : 2497))
            let shown = try await app.get("/v1/ships?limit=1", as: token)
            #expect(shown["meta.page.total"] == 2500)
        }
    }

    @Test("SHIP-10 each part has a revision: what is read between two of them misses nothing afterwards")
    func revisions() throws {
        let merge = try persistRows(Self.ships(0..<2500))
        #expect(try !writeNext(merge))
        let between = try Self.list(store)
        #expect(between.ships.count == 1000 && between.counts.revision == 1)
        #expect(between.changes.added.count == 1000)
        #expect(try !writeNext(merge))
        #expect(try writeNext(merge))
        let after = try Self.list(store, since: between.counts.revision)
        #expect(after.counts.revision == 3 && after.counts.total == 2500)
        #expect(after.changes.added.count == 1500 && after.changes.updated.isEmpty && after.changes.removed.isEmpty)
        #expect(Set(after.changes.added).isDisjoint(with: between.ships.map(\.id)))
    }

    @Test("SHIP-07 SHIP-10 a merge that ends between its parts: the list has the done ones, the next does the rest")
    func interrupted() async throws {
        let ships = Self.ships(0..<2500)
        let snapshot = try ShipFixtures.snapshot(Array(ships[..<3]))
        try await ShipsHarness.run(ScriptedSpaceX(.ships(ships)), snapshot: snapshot) { app, token in
            try await app.database.write { db in
                try db.execute(
                    sql: """
                        CREATE TRIGGER refused BEFORE INSERT ON ship WHEN new.id = 'id1500'
                        BEGIN SELECT RAISE(ABORT, 'refused'); END
                        """
                )
            }
            let first = try await app.get("/v1/ships?limit=1", as: token)
            #expect(first.status == 200 && first["meta.stale"] == true && first["meta.page.total"] == 1000)
            let revision = try Self.list(app.store).counts.revision
            let resource = Resource(url: "https://api.test/v4/ships", freshness: nil)
            #expect(try app.upstreams["spacex"]?.storedResponse(of: resource) == nil)
            try await app.database.write { try $0.execute(sql: "DROP TRIGGER refused") }
            let second = try await app.get("/v1/ships?limit=1&refresh=1", as: token)
            #expect(second["meta.stale"] == false && second["meta.page.total"] == 2500)
            let changes = try Self.list(app.store, since: revision).changes
            #expect(Set(changes.added) == Set((1000..<2500).map { "id\($0)" }))
            #expect(changes.updated.isEmpty && changes.removed.isEmpty)
        }
    }

    @Test("SHIP-07 a snapshot that is imported after a merge was prepared is taken into account: no ship is new twice")
    func overtaken() async throws {
        let merge = try persistRows([ShipFixtures.alma, ShipFixtures.bob])
        let snapshot = [ShipFixtures.alma, ShipFixtures.record("5a", "Snapshot Only")]
        try await store.importSnapshot(try ShipFixtures.ships(snapshot))
        #expect(try writeNext(merge))
        #expect(try Self.list(store, since: 1).changes == ListChanges(since: 1, added: ["b0b"], removed: ["5a"]))
        #expect(try Self.list(store).counts.total == 2)
    }

    @Test("TRUST-19 the ships are compared before the transaction, which reads none of them")
    func compared() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.ships(ShipFixtures.fleet + [ShipFixtures.record("e0", "Eve")]))
            let ran = try await app.statements.statements { _ = try await app.get("/v1/ships?refresh=1", as: token) }
            let writing = ran.split { $0.hasPrefix("BEGIN") || $0.hasPrefix("COMMIT") }
                .first { $0.contains { $0.hasPrefix("INSERT OR REPLACE INTO ship") } }
            #expect(Array(try #require(writing)).reads(of: "ship") == 0)
            #expect(ran.reads(of: "ship") > 0)
        }
    }
}
