import Foundation
import GRDB
import Screens
import Storage
import Testing

@testable import Notes

@Suite("Plans of the notes' queries")
struct NoteQueryPlanTests {
    private func plan(_ sql: String) throws -> [String] {
        try LarderDatabase.temporary(migrations: NoteStore.migrations).read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
            let named = sql.matches(of: /:([a-z_]+)/).map { (String($0.1), nil as Int?) }
            let unnamed = StatementArguments(Array(repeating: nil as Int?, count: sql.count { $0 == "?" }))
            let arguments = named.isEmpty ? unnamed : StatementArguments(Dictionary(named, uniquingKeysWith: { first, _ in first }))
            return try Row.fetchAll(statement, arguments: arguments).map { $0["detail"] }
        }
    }

    @Test(
        "a hot query scans no table",
        arguments: [
            NoteStore.selectNote, NoteStore.selectAccount, NoteStore.selectPage, NoteStore.selectOutline,
            "SELECT coalesce(sum(notes), 0) FROM note_cell WHERE account = ? AND zoom = 0",
        ]
    )
    func noScan(sql: String) throws {
        let plan = try plan(sql)
        #expect(!plan.isEmpty && !plan.contains { $0.contains("SCAN") || $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    @Test("NOTE-03 the newest notes come in the order of their index")
    func newest() throws {
        #expect(try plan(NoteStore.selectPage) == ["SEARCH note USING INDEX note_by_revision (account=?)"])
    }

    @Test("NOTE-05 a view is found in the R-tree by all six of its bounds, and clusters by a seek for each column")
    func map() throws {
        // An R-tree names the bounds that it uses: a letter for the kind and a digit for the column of each.
        let tree = try plan(NoteStore.selectWithin)
        #expect(tree.count == 1 && tree[0].hasPrefix("SCAN note_position VIRTUAL TABLE INDEX 2:"))
        let used = tree[0].dropFirst("SCAN note_position VIRTUAL TABLE INDEX 2:".count)
        #expect(used.count == 12, "\(tree)")
        let cells = try plan(NoteStore.selectCells)
        #expect(cells.contains("SEARCH note_cell USING PRIMARY KEY (account=? AND zoom=? AND x=? AND y>? AND y<?)"), "\(cells)")
    }

    @Test(
        "NOTE-08 NOTE-09 words are looked up in the full-text index, and notes by their number",
        arguments: [NoteStore.selectMatching, NoteStore.selectPlaces]
    )
    func search(sql: String) throws {
        let plan = try plan(sql)
        #expect(plan.contains { $0.hasPrefix("SCAN note_text VIRTUAL TABLE INDEX") && $0.contains("M") }, "\(plan)")
        #expect(plan.contains("SEARCH note USING INTEGER PRIMARY KEY (rowid=?)"), "\(plan)")
    }

    @Test("NOTE-06 people come in the order of their index")
    func people() throws {
        #expect(try plan(NoteStore.selectPeople) == ["SCAN notes_person USING INDEX notes_person_by_name"])
    }
}

/// Figures, not judgements: `LARDER_BENCH=1 swift test --filter NoteMapBench` prints how long the map takes over 100,000 notes.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["LARDER_BENCH"] != nil), .serialized) struct NoteMapBench {
    @Test("NOTE-05 latency of views of the map, lists and searches over 100,000 notes")
    func latency() throws {
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations)
        try ManyNotes.fill(database, notes: 100_000)
        let store = NoteStore(database)
        let street = try #require(BoundingBox("13.400,52.500,13.410,52.506"))
        let city = try #require(BoundingBox("13.0,52.3,13.8,52.7"))
        let pacific = try #require(BoundingBox("150,-50,-120,50"))
        for (name, box, zoom) in [
            ("street", street, nil), ("city", city, nil), ("city at 11", city, 11), ("pacific", pacific, nil), ("world", .world, nil),
            ("world at 2", .world, 2),
        ] {
            var items = 0
            let times = try Self.measure {
                let map = try store.map(box, zoom: zoom, account: 1)
                items = map.pins.count + map.clusters.count
            }
            print("map \(name): \(items) items, \(times)")
        }
        print("list:", try Self.measure { _ = try store.list(account: 1, page: .init(limit: 100), search: nil) })
        print("search:", try Self.measure { _ = try store.list(account: 1, page: .init(limit: 100), search: SearchQuery("walk dog42")) })
        print("places:", try Self.measure { _ = try store.places(SearchQuery("place 12"), account: 1, limit: 5) })
    }

    /// Median and 99th percentile of 1000 calls, after 50 that warm up.
    private static func measure(_ body: () throws -> Void) throws -> String {
        for _ in 0..<50 { try body() }
        let clock = ContinuousClock()
        let times = try (0..<1000).map { _ in try clock.measure(body) }.sorted()
        func microseconds(_ duration: Duration) -> Int { Int(duration / .microseconds(1)) }
        return "p50 \(microseconds(times[500])) µs, p99 \(microseconds(times[990])) µs"
    }
}
