import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Screens
@testable import Ships

/// The ships of accounts on a server by itself and on several.
@Suite("Ships of one server and of several")
struct ShipListsTests {
    private let epoch = Date(timeIntervalSince1970: 1_000_000)

    private static func ship(_ number: Int, _ name: String, year: Int? = nil) -> Ship {
        Ship(id: "id\(number)", name: name, roles: ["Tug"], isActive: true, yearBuilt: year, massKilograms: 1.5)
    }

    private func version(_ number: Int) -> WritePreconditions { WritePreconditions([.ifMatch: "\"\(number)\""]) }

    @Test(
        "SHIP-07 Pages, revisions and changes are the same on one server and on several, whatever is deleted",
        arguments: 1...3
    )
    func lists(seed: Int) async throws {
        var logs: [[String]] = []
        for kind in StoreKind.allCases {
            var chance = SeededRandom(seed: UInt64(seed))
            let nodes = try await kind.shipNodes(2)
            var log: [String] = []
            for step in 0..<80 {
                let node = nodes[Int.random(in: 0...1, using: &chance)]
                let account = ["user:a", "guest:b"][Int.random(in: 0...1, using: &chance)]
                let id = "id\(Int.random(in: 0...9, using: &chance))"
                var outcome = ""
                switch Int.random(in: 0..<6, using: &chance) {
                case 0, 1:
                    let listed = (0..<10).compactMap { number -> Ship? in
                        let name = ["alma", "Bob", "ёлка", "Zoë"][Int.random(in: 0...3, using: &chance)]
                        let isListed = Int.random(in: 0...3, using: &chance) > 0
                        return isListed ? Self.ship(number, name, year: step % 4 == 0 ? step : nil) : nil
                    }
                    try await node.merge(listed, at: epoch.addingTimeInterval(Double(step)))
                case 2, 3:
                    let counts = try await node.store.hide(id, account: account, if: .none)
                    outcome = "hide \(counts.map { "\($0)" } ?? "-")"
                case 4: outcome = "\(try await node.store.restore([id, "id1"], account: account, if: .none))"
                default: outcome = "\(try await node.store.restore(nil, account: account, if: .none))"
                }
                log.append("\(step) \(outcome) \(try node.store.accountsWithHiddenShips())")
                for account in ["user:a", "guest:b", "guest:c"] {
                    for (page, since) in [(PageRequest(limit: 3, offset: 1), nil), (PageRequest(limit: 20), step / 3)] {
                        let listing = try await node.list(account: account, page: page, since: since)
                        log.append("\(listing)")
                        let key = listing.ships.first.map { [CursorValue.text($0.sortKey), .text($0.id)] }
                        let behind = PageRequest(limit: 2, after: key)
                        log.append("\(try await node.list(account: account, page: behind, since: 0))")
                    }
                    let ship = try await node.ship(id, account: account)
                    log.append(ship.map { "\($0)" } ?? "-")
                }
            }
            logs.append(log)
        }
        #expect(logs[0].count == logs[1].count)
        let differing = zip(logs[0], logs[1]).first { $0 != $1 }
        #expect(differing == nil)
        #expect(logs[0].count { $0.contains("isHidden: true") } > 5)
    }

    @Test(
        "SCALE-15 Of many deletions of one version one is made; all deletions have revisions of their own",
        arguments: StoreKind.allCases
    )
    func deletions(kind: StoreKind) async throws {
        let nodes = try await kind.shipNodes(2)
        try await nodes[0].merge((0..<40).map { Self.ship($0, "Ship \($0)") }, at: epoch)
        let made = try await withThrowingTaskGroup(of: ShipPage.Counts?.self) { group in
            for number in 0..<20 {
                group.addTask { try await nodes[number % 2].store.hide("id1", account: "a", if: version(1)) }
            }
            return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        #expect(made.count == 1 && made.first?.revision == 2)
        let revisions = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<40 {
                let account = number % 4 < 2 ? "a" : "b"
                group.addTask {
                    try await nodes[number % 2].store.hide("id\(number)", account: account, if: .none)?.revision
                }
            }
            return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        #expect(revisions.count == 39 && Set(revisions).count == 39 && revisions.max() == 41)
        for (node, count) in zip(nodes, [20, 0]) {
            #expect(try await node.store.restore(nil, account: "b", if: .none).restored.count == count)
        }
        #expect(try await nodes[1].list(account: "a", page: PageRequest(limit: 100)).counts.hidden == 20)
    }

    @Test("SCALE-22 A list counts if none was taken over since it was requested, whatever the clocks are")
    func order() async throws {
        let nodes = try await StoreKind.postgresql.shipNodes(2)
        let before = try nodes[1].store.listing()
        try await nodes[0].merge([Self.ship(1, "new")], at: epoch)
        try await nodes[1].merge(
            [Self.ship(1, "old"), Self.ship(2, "old")],
            at: epoch.addingTimeInterval(5),
            after: before
        )
        let page = PageRequest(limit: 9)
        #expect(try await nodes[1].list(account: "a", page: page).ships.map(\.name) == ["new"])
        // This server's clock is an hour behind.
        try await nodes[1].merge([], at: epoch.addingTimeInterval(-3600))
        #expect(try await nodes[0].list(account: "a", page: page).ships.map(\.isListed) == [false])
        try await nodes[0].merge([Self.ship(1, "new")], at: epoch.addingTimeInterval(7))
        #expect(try await nodes[1].list(account: "a", page: page).ships.map(\.isListed) == [true])
    }
}
