import Foundation
import Screens
import Storage
import TestKit
import Testing

@testable import Ships

@Suite("Order of ships")
struct ShipTests {
    @Test(
        "SHIP-04 names that differ in case only sort as equal",
        arguments: [
            ("GO QUEST", "go quest"), ("Ähre", "äHRE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ΜΆΪΟΣ", "μάϊος"),
            ("\u{17F}hip", "Ship"), ("\u{212A}elly", "kelly"),
            ("µ", "Μ"),
            ("STRASSE \u{1E9E}", "strasse ß"), ("Жан", "жАН"), ("e\u{301}", "É"),
        ]
    )
    func folded(one: String, other: String) {
        #expect(Ship.sortKey(of: one) == Ship.sortKey(of: other))
    }

    @Test(
        "simple folding makes no letter two, and keeps the dotless i apart",
        arguments: [("ß", "ss"), ("ı", "i"), ("ﬁ", "fi"), ("é", "e")]
    )
    func apart(one: String, other: String) {
        #expect(Ship.sortKey(of: one) != Ship.sortKey(of: other))
    }

    @Test("folding again changes nothing", arguments: ["GO Quest", "İstanbul", "ẞ", "ᾈ", "ǅ", "Ꭰ", "", "🚢"])
    func idempotent(name: String) {
        let key = Ship.sortKey(of: name)
        #expect(Ship.sortKey(of: key) == key)
    }
}

@Suite("What changed since a revision")
struct ShipChangesTests {
    private let store: ShipStore

    init() throws {
        store = ShipStore(try .temporary(migrations: ShipsApp.migrations))
        try merge([ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.carl])  // revision 1
    }

    private func merge(_ records: [String]) throws {
        let ships = try ShipFixtures.ships(records)
        _ = try store.database.write { try ShipStore.merge(ships.map(ShipColumns.init), in: $0) }
    }

    private func changes(_ account: String = "me", since: Int?, limit: Int = 100) throws -> ListChanges {
        try store.list(account: account, page: PageRequest(limit: limit, offset: 1), since: since).changes
    }

    @Test("SHIP-10 everything is new since the beginning, in the order of the list, wherever the page begins")
    func beginning() throws {
        #expect(try changes(since: 0) == ListChanges(since: 0, added: ["a1", "b0b", "ca"]))
        #expect(try changes(since: 0, limit: 3) == ListChanges(since: 0, added: ["a1", "b0b", "ca"]))
    }

    @Test("SHIP-10 no more ships are named than a page has, and the response says that there are more")
    func limited() async throws {
        #expect(try changes(since: 0, limit: 2) == ListChanges(since: 0, added: ["a1", "b0b"], hasMore: true))
        // Many marks of one ship are one change.
        for _ in 0..<3 {
            _ = try await store.hide("b0b", account: "me")
            _ = try await store.restore(nil, account: "me")
        }
        _ = try await store.hide("a1", account: "me")
        #expect(try changes(since: 1, limit: 2) == ListChanges(since: 1, removed: ["a1"]))
        #expect(try changes(since: 1, limit: 1) == ListChanges(since: 1, removed: ["a1"], hasMore: true))
    }

    @Test("SHIP-10 nothing changed since now")
    func now() throws {
        #expect(try changes(since: 1) == ListChanges(since: 1))
    }

    @Test("SHIP-10 without a revision the changes are those of the last one")
    func last() throws {
        try merge([ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.carl, ShipFixtures.dora])
        #expect(try changes(since: nil) == ListChanges(since: 1, added: ["d0"]))
    }

    @Test(
        "SHIP-10 a revision that was never given out is of another database: everything is new",
        arguments: [2, 99, Int.max]
    )
    func future(since: Int) throws {
        #expect(try changes(since: since) == ListChanges(since: 0, added: ["a1", "b0b", "ca"]))
    }

    @Test("SHIP-10 deletions and restorations are changes of their account only")
    func accounts() async throws {
        _ = try await store.hide("b0b", account: "me")  // 2
        _ = try await store.hide("ca", account: "you")  // 3
        #expect(try changes("me", since: 1) == ListChanges(since: 1, removed: ["b0b"]))
        #expect(try changes("you", since: 1) == ListChanges(since: 1, removed: ["ca"]))
        #expect(try changes("them", since: 1) == ListChanges(since: 1))
        _ = try await store.restore(nil, account: "me")  // 4
        #expect(try changes("me", since: 2) == ListChanges(since: 2, added: ["b0b"]))
        #expect(try changes("you", since: 3) == ListChanges(since: 3))
    }

    @Test("SHIP-10 a ship that was deleted and restored in between was there and is there: no change")
    func roundTrip() async throws {
        _ = try await store.hide("b0b", account: "me")  // 2
        _ = try await store.restore(nil, account: "me")  // 3
        #expect(try changes(since: 1) == ListChanges(since: 1))
        _ = try await store.hide("b0b", account: "me")  // 4
        #expect(try changes(since: 2) == ListChanges(since: 2))
        _ = try await store.restore(nil, account: "me")  // 5
        #expect(try changes(since: 1) == ListChanges(since: 1))
        #expect(try changes(since: 2) == ListChanges(since: 2, added: ["b0b"]))
        #expect(try changes(since: 3) == ListChanges(since: 3))
        #expect(try changes(since: 4) == ListChanges(since: 4, added: ["b0b"]))
    }

    @Test("SHIP-10 a ship that came and was deleted in between was never there")
    func cameAndWent() async throws {
        try merge([ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.carl, ShipFixtures.dora])  // 2
        _ = try await store.hide("d0", account: "me")  // 3
        #expect(try changes(since: 1) == ListChanges(since: 1))
        #expect(try changes(since: 2) == ListChanges(since: 2, removed: ["d0"]))
    }

    @Test("SHIP-10 an update of a ship that the account does not see is none, one that it sees is")
    func updates() async throws {
        _ = try await store.hide("b0b", account: "me")  // 2
        try merge([ShipFixtures.alma, ShipFixtures.record("b0b", "Bobby"), ShipFixtures.record("ca", "Carla")])  // 3
        #expect(try changes("me", since: 2) == ListChanges(since: 2, updated: ["ca"]))
        #expect(try changes("you", since: 2) == ListChanges(since: 2, updated: ["b0b", "ca"]))
        _ = try await store.restore(["b0b"], account: "me")  // 4
        #expect(try changes("me", since: 2) == ListChanges(since: 2, added: ["b0b"], updated: ["ca"]))
    }

    @Test("SHIP-10 restoring what the snapshot alone had is no news of its removal")
    func removedSnapshot() async throws {
        let store = ShipStore(try .temporary(migrations: ShipsApp.migrations))
        try await store.importSnapshot(try ShipFixtures.ships([ShipFixtures.alma, ShipFixtures.dora]))  // 1
        _ = try await store.hide("d0", account: "me")  // 2
        let ships = try ShipFixtures.ships([ShipFixtures.alma])
        _ = try await store.database.write { try ShipStore.merge(ships.map(ShipColumns.init), in: $0) }  // 3
        func listing(since: Int) throws -> ShipPage {
            try store.list(account: "me", page: PageRequest(limit: 9), since: since)
        }
        #expect(try listing(since: 1).changes == ListChanges(since: 1, removed: ["d0"]))
        #expect(try listing(since: 2).changes == ListChanges(since: 2))
        #expect(try listing(since: 2).counts.hidden == 0)
        _ = try await store.restore(nil, account: "me")  // 4
        #expect(try listing(since: 3).changes == ListChanges(since: 3))
        #expect(try listing(since: 3).ships.map(\.id) == ["a1"])
    }
}
