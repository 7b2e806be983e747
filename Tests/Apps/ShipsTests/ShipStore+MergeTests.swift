import FoundationEssentials
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("Taking over what the API lists")
struct ShipStoreMergeTests {
    private let store: ShipStore

    init() throws {
        store = ShipStore(try .temporary(migrations: ShipsApp.migrations))
    }

    @discardableResult
    private func merge(_ records: [String]) throws -> Int? {
        let last = Watched<Int?>(nil)
        let persistRows = store.persistRows(of: try ShipFixtures.ships(records), listedAt: .distantPast, after: nil) {
            revision in
            last.update { $0 = revision }
        }
        while try !store.database.write({ try persistRows.writeNext(in: $0) }) {}
        return last.value
    }

    private func list(since: Int? = nil) throws -> ShipPage {
        try store.list(account: "me", page: PageRequest(limit: 500), since: since)
    }

    /// The listed ships with all that is known of them.
    private func stored() throws -> [Ship] {
        try list().ships.map { try #require(try store.ship($0.id, account: "me")).ship }
    }

    @Test("SHIP-07 ships that are missing are inserted, by name, none twice")
    func insert() throws {
        #expect(try merge(ShipFixtures.fleet) == 1)
        #expect(try list().ships.map(\.name) == ["Alma", "bob", "Carl", "DORA"])
        #expect(
            try stored()
                == ShipFixtures.ships([ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.carl, ShipFixtures.dora])
        )
    }

    @Test("SHIP-07 the same response again changes nothing")
    func again() throws {
        try merge(ShipFixtures.fleet)
        let before = try list()
        #expect(try merge(ShipFixtures.fleet.reversed()) == nil)
        #expect(try list().ships == before.ships)
        #expect(try list().counts == before.counts)
    }

    @Test("SHIP-07 a changed ship is updated, a renamed one keeps its place in the database and moves in the list")
    func update() throws {
        try merge(ShipFixtures.fleet)
        #expect(
            try merge([
                ShipFixtures.alma, ShipFixtures.carl, ShipFixtures.dora,
                ShipFixtures.record("b0b", "Zora", #""type":"Tug""#),
            ]) == 2
        )
        #expect(try list().ships.map(\.name) == ["Alma", "Carl", "DORA", "Zora"])
        #expect(try list(since: 1).changes == ListChanges(since: 1, updated: ["b0b"]))
    }

    @Test("TRUST-19 an API with other ships each time does not make the merge longer and longer; known ships stay")
    func growing() throws {
        func ships(_ prefix: String, _ count: Int) -> [String] {
            (0..<count).map { ShipFixtures.record("\(prefix)\($0)", "\($0)") }
        }
        try merge(ships("a", 10_000))
        try merge(ships("b", 10_000))
        let reason = "more ships than are kept, vanished ones included"
        #expect(throws: UpstreamError.badResponse(status: .ok, reason: reason)) { try merge(ships("c", 1)) }
        // Ten parts of insertions, twenty of insertions and marks, eleven of marks and one ship that is back.
        #expect(try merge(ships("a", 1)) == 41)
        #expect(try list().counts.total == 20_000)
    }

    @Test("SHIP-07 a vanished ship is kept and marked, once; when it returns it is listed again")
    func vanish() throws {
        try merge(ShipFixtures.fleet)
        #expect(try merge([ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.carl]) == 2)
        #expect(try store.ship("d0", account: "me")?.ship.isListed == false)
        #expect(try list().ships.count == 4)
        #expect(try merge([ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.carl]) == nil)
        #expect(try merge(ShipFixtures.fleet) == 3)
        #expect(try store.ship("d0", account: "me")?.ship.isListed == true)
        #expect(try list(since: 2).changes == ListChanges(since: 2, updated: ["d0"]))
    }

    @Test("an empty response marks every ship and removes none")
    func empty() throws {
        try merge(ShipFixtures.fleet)
        try merge([])
        #expect(try list().ships.map(\.isListed) == [false, false, false, false])
    }

    @Test("SHIP-12 a first response replaces the snapshot: unknown ships go, known ones stay, differences are changes")
    func snapshot() async throws {
        let stale = ShipFixtures.record("b0b", "Bob of old")
        try await store.importSnapshot(
            try ShipFixtures.ships([ShipFixtures.alma, stale, ShipFixtures.record("5a", "Snapshot Only")])
        )
        #expect(try list().counts.revision == 1)
        #expect(try merge([ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.carl]) == 2)
        #expect(try list().ships.map(\.name) == ["Alma", "bob", "Carl"])
        #expect(try list(since: 1).changes == ListChanges(since: 1, added: ["ca"], updated: ["b0b"], removed: ["5a"]))
        #expect(try list(since: 0).changes == ListChanges(since: 0, added: ["a1", "b0b", "ca"]))
        #expect(try store.ship("5a", account: "me") == nil)
    }

    @Test("a snapshot that the API confirms is no change, and its ships are the API's from then on")
    func confirmed() async throws {
        try await store.importSnapshot(try ShipFixtures.ships([ShipFixtures.alma]))
        #expect(try merge([ShipFixtures.alma]) == nil)
        try merge([])
        #expect(try list().ships.map(\.isListed) == [false])
    }

    @Test("a removed ship that the API comes to list is new")
    func returning() async throws {
        try await store.importSnapshot(try ShipFixtures.ships([ShipFixtures.alma, ShipFixtures.dora]))
        try merge([ShipFixtures.alma])
        try merge([ShipFixtures.alma, ShipFixtures.dora])
        #expect(try list(since: 2).changes == ListChanges(since: 2, added: ["d0"]))
        #expect(try list().ships.count == 2)
    }

    @Test("the snapshot is taken over once, and never beside known ships")
    func snapshotOnce() async throws {
        try merge([ShipFixtures.bob])
        try await store.importSnapshot(try ShipFixtures.ships([ShipFixtures.alma]))
        #expect(try list().ships.map(\.id) == ["b0b"])
    }

    @Test(
        "texts of all kinds come back as they were",
        arguments: [
            "Ünïcode 🚢", "quote \\\" and \\\\", "line\\nbreak", "e\u{301}", "' OR 1=1 --", "\\u202Eright to left",
        ]
    )
    func texts(name: String) throws {
        let record = ShipFixtures.record("x1", name, #""roles":["\#(name)"],"home_port":"\#(name)""#)
        try merge([record])
        #expect(try merge([record]) == nil)
        #expect(try stored() == ShipFixtures.ships([record]))
    }

    @Test("a failed merge leaves everything as it was")
    func rollback() throws {
        struct Interrupted: Error {}
        let store = self.store
        let ships = try ShipFixtures.ships(ShipFixtures.fleet)
        #expect(throws: Interrupted.self) {
            try store.database.write { db in
                try ShipStore.merge(ships.map(ShipColumns.init), in: db)
                throw Interrupted()
            }
        }
        #expect(try list().ships.isEmpty)
        #expect(try list().counts.revision == 0)
    }

    @Test("a merge is published when it is committed, and not if it changed nothing or was rolled back")
    func announced() throws {
        struct Interrupted: Error {}
        let published = Watched<[Int]>([])
        let ships = try ShipFixtures.ships(ShipFixtures.fleet)
        let persistRows = store.persistRows(of: ships, listedAt: .distantPast, after: nil) { revision in
            published.update { $0.append(revision) }
        }
        try? store.database.write { db in
            _ = try persistRows.writeNext(in: db)
            throw Interrupted()
        }
        #expect(published.value == [])
        for _ in 0..<2 {
            let isLast = try store.database.write { try persistRows.writeNext(in: $0) }
            #expect(isLast)
        }
        #expect(published.value == [1])
    }
}
