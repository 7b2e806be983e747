import Concurrency
import Foundation
import GRDB
import Storage
import TestKit
import Testing
import Upstream

@testable import Screens

@Suite("A list that an app fetches")
struct CachedListTests {
    private struct Island: ListedItem {
        var id: String
        var title: String
        var area = 1.5

        var name: Text { Text(title, ru: "Остров \(title)") }
    }

    /// The same items, as another build of the program names them.
    private struct RenamedIsland: ListedItem {
        var id: String
        var title: String
        var area = 1.5

        var name: Text { Text("Isle of \(String(title.reversed()))", ru: title) }
    }

    private static let api = UpstreamDescription("islands", title: "Islands", url: nil)

    private let clock = ManualClock()
    private let database: LarderDatabase

    init() throws {
        database = try .temporary(migrations: [CachedListStore<Island>.migration(of: "islands")])
    }

    private func store(_ order: CachedList<Island>.Order = .byName) -> CachedListStore<Island> {
        CachedListStore(of: "islands", database, order: order, clock: clock.wallClock)
    }

    private func merge(_ names: [String], _ order: CachedList<Island>.Order = .byName) throws -> Int? {
        try database.write { db in
            try store(order).merge(store(order).columns(of: names.map { Island(id: $0.lowercased(), title: $0) }), db)
        }
    }

    private func page(
        _ request: PageRequest = PageRequest(limit: 10),
        words: [String] = [],
        since: Int? = nil
    ) throws -> CachedListStore<Island>.Page {
        try database.read { try store().page($0, request, words: words, since: since) }
    }

    private func names(_ page: CachedListStore<Island>.Page) -> [String] { page.items.rows.map(\.title) }

    @Test("HOUSE-02 rows are sorted by name, or as the API lists them; a changed order has a revision")
    func order() throws {
        let first = try #require(try merge(["Vis", "Hvar", "brač"]))
        #expect(try names(page()) == ["brač", "Hvar", "Vis"])
        #expect(try merge(["Hvar", "brač", "Vis"]) == nil, "the order of the response counts for nothing")
        #expect(try #require(try merge(["Vis", "Hvar", "brač"], .listed)) > first)
        #expect(try names(page()) == ["Vis", "Hvar", "brač"])
        #expect(try #require(try merge(["brač", "Vis", "Hvar"], .listed)) > first)
        let reordered = try page(since: first)
        #expect(names(reordered) == ["brač", "Vis", "Hvar"] && reordered.changes == ListChanges(since: first))
    }

    @Test("HOUSE-02 pages by key neither repeat nor lose a row, whatever is added and removed between them")
    func pages() throws {
        _ = try merge(["A", "B", "C", "D"])
        let first = try page(PageRequest(limit: 2))
        #expect(names(first) == ["A", "B"] && first.items.hasMore && first.items.total == 4)
        _ = try merge(["A0", "B", "C", "D"])
        let second = try page(PageRequest(limit: 2, after: first.items.key))
        #expect(names(second) == ["C", "D"] && !second.items.hasMore)
    }

    @Test("HOUSE-02 changes since a revision name the rows; a row that left and came back is new")
    func changes() throws {
        let first = try #require(try merge(["A", "B"]))
        clock.advance(by: .seconds(1))
        let second = try #require(try merge(["B", "C"]))
        #expect(try page(since: first).changes == ListChanges(since: first, added: ["c"], removed: ["a"]))
        #expect(try page(since: second).changes == ListChanges(since: second))
        _ = try merge(["A", "B", "C"])
        #expect(try page(since: second).changes == ListChanges(since: second, added: ["a"]))
        #expect(try page(since: .max).changes == ListChanges(since: 0, added: ["b", "c", "a"]))
        #expect(try page(PageRequest(limit: 1), since: 0).changes == ListChanges(since: 0, added: ["b"], hasMore: true))
    }

    @Test("HOUSE-02 a clock that went back leaves revisions growing")
    func clockBack() throws {
        let first = try #require(try merge(["A"]))
        clock.advance(by: .seconds(-86_400))
        #expect(try merge(["B"]) == first + 1)
    }

    @Test("HOUSE-02 removals are forgotten at last; a client from before them is told that everything is new")
    func forgotten() throws {
        let first = try #require(try merge(["A"]))
        for round in 0..<3 { _ = try merge(["A"] + (0..<600).map { "\(round)-\($0)" }) }
        let last = try #require(try merge(["A"]))
        let old = try page(since: first)
        #expect(old.changes.since == 0 && old.changes.added == ["a"])
        #expect(try page(PageRequest(limit: 1000), since: last - 1).changes.removed.count == 600)
        let rows = try database.integer("SELECT count(*) FROM islands_item")
        #expect(try #require(rows) <= 1601)
    }

    @Test(
        "HOUSE-02 a search finds all words in any order, in both languages, whatever the case",
        arguments: [
            (["hvar"], ["Hvar"]), (["ostrov"], []), (["остров"], ["Hvar", "Vis"]), (["va", "остров"], ["Hvar"]),
            (["%"], []),
        ]
    )
    func search(words: [String], found: [String]) throws {
        _ = try merge(["Hvar", "Vis"])
        let page = try page(words: words)
        #expect(names(page) == found && page.items.total == found.count)
    }

    @Test(
        "ONE-08 a search that finds no name looks for other words, page by page",
        arguments: [
            ("ostrov", ["Hvar", "Vis"], "остров"), ("hvra", ["Hvar"], "hvar"),
            ("острова хвар", ["Hvar"], "остров hvar"),
            ("рмфк", ["Hvar"], "hvar"), ("hva", ["Hvar"], nil), ("korčula", [], nil),
        ]
    )
    func variants(text: String, found: [String], words: String?) throws {
        _ = try merge(["Hvar", "Vis"])
        let search = text.searchFolded.split(separator: " ").map(String.init)
        func page(_ offset: Int) throws -> CachedListStore<Island>.Page {
            let request = PageRequest(limit: 1, offset: offset)
            return try database.read { try store().pageOrVariant($0, request, words: search, since: nil) }
        }
        let pages = try found.indices.map(page)
        #expect(pages.flatMap(names) == found && pages.allSatisfy { $0.variant?.text == words })
        #expect(try page(found.count).items.rows.isEmpty)
    }

    @Test("HOUSE-02 a name that another build of the program gives is sorted and found, and counts as a change")
    func renamed() throws {
        let first = try #require(try merge(["Hvar", "Vis"]))
        let renamed = CachedListStore<RenamedIsland>(of: "islands", database, order: .byName, clock: clock.wallClock)
        let items = ["Hvar", "Vis"].map { RenamedIsland(id: $0.lowercased(), title: $0) }
        let second = try #require(try database.write { try renamed.merge(renamed.columns(of: items), $0) })
        #expect(second > first)
        let page = try database.read {
            try renamed.page($0, PageRequest(limit: 10), words: ["isle", "siv"], since: nil)
        }
        #expect(page.items.rows.map(\.title) == ["Vis"])
        #expect(try database.write { try renamed.merge(renamed.columns(of: items), $0) } == nil)
    }

    @Test("HOUSE-02 an item with a number that JSON has not makes its response unusable")
    func notANumber() {
        #expect(throws: UnusableResponse.self) {
            try store().columns(of: [Island(id: "a", title: "A", area: .infinity)])
        }
    }

    @Test("HOUSE-02 rows that are deleted for want of a form are new to a client of before")
    func removedAll() throws {
        let first = try #require(try merge(["A"]))
        try database.write { try store().removeAll($0) }
        #expect(try page(since: first).changes == ListChanges(since: 0))
        _ = try merge(["A"])
        #expect(try page(since: first).changes == ListChanges(since: 0, added: ["a"]))
    }

    @Test(
        "HOUSE-02 items of another form, without an id, or with that of an earlier one are left out",
        arguments: [
            (
                #"[{"id":"a","title":"A","area":1},{"id":"","title":"B","area":1},{"id":"a","title":"C","area":1},7]"#,
                ["A"]
            ),
            ("[]", []), (#"[{"id":"cafe\u0301","title":"A","area":1},{"id":"caf\u00E9","title":"B","area":1}]"#, ["B"]),
        ]
    )
    func tolerant(body: String, titles: [String]) throws {
        let items = try CachedList<Island>(of: Self.api, at: "/").items(of: Data(body.utf8))
        #expect(items.map(\.title) == titles)
    }

    @Test(
        "HOUSE-02 a response without a usable row, or of another form, is unusable",
        arguments: ["[7]", "{}", "", "[", "null"]
    )
    func unusable(body: String) {
        #expect(throws: UnusableResponse.self) {
            try CachedList<Island>(of: Self.api, at: "/").items(of: Data(body.utf8))
        }
    }
}
