import GRDB
import TestKit
import Testing

@testable import Storage

@Suite("Hits of a search, the newest first")
struct SearchHitsTests {
    private static let index = SearchIndex("term")
    private static let select = """
        SELECT term.rowid AS rank, term.rowid % 10 <> :missing AS is_hit FROM term
        WHERE term MATCH :terms AND term.rowid < :before ORDER BY term.rowid DESC
        """

    /// Rows 1…`rows` of owner 1 and as many of owner 2: all have the term `all`, odd ones `odd`, even ones `even`.
    private func database(rows: Int64) throws -> LarderDatabase {
        let database = try LarderDatabase.temporary(migrations: [SchemaMigration("test/001", sql: Self.index.creation)])
        try database.write { db in
            for owner in [Int64(1), 2] {
                for row in 1...rows {
                    let terms: Set = ["all", row % 2 == 0 ? "even" : "odd"]
                    try Self.index.insert(terms, of: owner, at: owner << 40 | row, db)
                }
            }
        }
        return database
    }

    private func hits(
        _ terms: [String],
        of owner: Int64 = 1,
        _ request: SearchHits.Request,
        missing: Int = -1,
        in database: LarderDatabase
    ) throws -> SearchHits {
        try database.read { db in
            try SearchHits(Self.select, Self.index.search(terms, of: owner), ["missing": missing], request, db)
        }
    }

    @Test("NOTE-09 As many rows are read for a page among 100,000 hits as among 4,000, and no row of others")
    func bounded() throws {
        let (few, many) = (try database(rows: 4_000), try database(rows: 100_000))
        for terms in [["all"], ["even"], ["all", "odd"]] {
            let (one, other) = (try hits(terms, .init(limit: 20), in: few), try hits(terms, .init(limit: 20), in: many))
            #expect(one.ranks.count == 20 && other.ranks.count == 20)
            #expect(one.examined == other.examined)
            #expect(other.examined == SearchHits.counted + 1 && other.total == nil)
            #expect(other.totalAtLeast == SearchHits.counted + 1 && other.hasMore)
        }
        let last = try hits(["all"], .init(limit: 20, before: 1 << 40 | 50_000), in: many)
        #expect(last.examined <= SearchHits.counted + 1 + 21 && last.ranks.first == 1 << 40 | 49_999)
        #expect(try hits(["odd", "even"], of: 2, .init(limit: 20), in: many).examined == 0)
        for before in [nil, 1 << 40 | 50_000] as [Int64?] {
            let page = try hits(["all"], .init(limit: 20, before: before, isCounted: false), in: many)
            #expect(page.ranks.count == 20 && page.examined == 21 && page.hasMore)
            #expect(page.total == nil && page.totalAtLeast == 21)
        }
    }

    @Test("NOTE-09 The index is read in its order, without sorting")
    func plan() throws {
        let database = try database(rows: 1)
        let plan = try QueryPlan(Self.select, in: database)
        #expect(plan.steps.count == 1 && plan.steps[0].hasPrefix("SCAN term VIRTUAL TABLE INDEX") && !plan.sorts)
        #expect(plan.steps[0].contains("M") && plan.steps[0].contains("<"), "\(plan)")
    }

    @Test("A total is exact up to a thousand, and beyond that what it is at least")
    func totals() throws {
        let database = try database(rows: 1_000)
        let all = try hits(["all"], .init(limit: 10), in: database)
        #expect(all.total == 1_000 && all.totalAtLeast == nil && all.hasMore)
        try database.write { try Self.index.insert(["all"], of: 1, at: 1 << 40 | 1_001, $0) }
        let more = try hits(["all"], .init(limit: 10), in: database)
        #expect(more.total == nil && more.totalAtLeast == 1_001)
        // A request that reads on counts on.
        let deep = try hits(["all"], .init(limit: 10, offset: 995), in: database)
        #expect(deep.ranks.count == 6 && deep.total == 1_001 && !deep.hasMore)
        #expect(try hits(["none"], .init(limit: 10), in: database) == SearchHits())
    }

    @Test("Pages by rank and by offset are the same rows, each once")
    func pages() throws {
        let database = try database(rows: 95)
        var (byRank, byOffset): ([Int64], [Int64]) = ([], [])
        var before: Int64?
        repeat {
            let page = try hits(["all"], .init(limit: 20, before: before), missing: 3, in: database)
            #expect(page.total == 86)
            byRank += page.ranks
            before = page.hasMore ? page.next : nil
        } while before != nil
        for offset in stride(from: 0, to: 100, by: 20) {
            byOffset += try hits(["all"], .init(limit: 20, offset: offset), missing: 3, in: database).ranks
        }
        #expect(byRank == byOffset && byRank == byRank.sorted(by: >) && Set(byRank).count == 86)
    }

    @Test("Rows that are no hits are read up to a limit; then the page is short and names where the next one begins")
    func misses() throws {
        let database = try database(rows: 6_000)
        let select = Self.select.replacing("% 10 <> :missing", with: "% 1099511627776 < :missing")
        let terms = Self.index.search(["all"], of: 1)
        let first = try database.read { db in
            try SearchHits(select, terms, ["missing": 6], .init(limit: 20), db)
        }
        #expect(first.ranks.isEmpty && first.hasMore && first.isCut && first.total == nil && first.totalAtLeast == 0)
        #expect(first.examined == SearchHits.mostMisses && first.next == 1 << 40 | 1_001)
        let second = try database.read { db in
            try SearchHits(select, terms, ["missing": 6], .init(limit: 20, before: first.next), db)
        }
        #expect(second.ranks == [5, 4, 3, 2, 1].map { 1 << 40 | $0 } && !second.hasMore && !second.isCut)
    }

    @Test("A deleted row is not found, and no offset is too large")
    func deleted() throws {
        let database = try database(rows: 3)
        try database.write { try Self.index.delete(["all", "even"], of: 1, at: 1 << 40 | 2, $0) }
        #expect(try hits(["all"], .init(limit: 5), in: database).ranks == [1 << 40 | 3, 1 << 40 | 1])
        #expect(try hits(["even"], .init(limit: 5), in: database).total == 0)
        #expect(try hits(["all"], of: 2, .init(limit: 5), in: database).total == 3)
        #expect(try hits(["all"], .init(limit: 5, offset: .max), in: database).ranks.isEmpty)
        try database.write { try Self.index.deleteAll($0) }
        #expect(try hits(["all"], of: 2, .init(limit: 5), in: database).total == 0)
    }

    @Test("Rows that were added one by one are found as before when their index is merged into one segment")
    func optimized() throws {
        let database = try database(rows: 3)
        for row in Int64(4)...6 {
            try database.write { try Self.index.insert(["all", "odd"], of: 1, at: 1 << 40 | row, $0) }
        }
        try database.write { try Self.index.delete(["all", "odd"], of: 1, at: 1 << 40 | 5, $0) }
        let segments = "SELECT count(DISTINCT segid) FROM term_idx"
        let before = try hits(["all"], .init(limit: 9), in: database)
        #expect(before.ranks == [6, 4, 3, 2, 1].map { 1 << 40 | $0 })
        #expect(try database.integer(segments) == 5)
        try database.write { try Self.index.optimize($0) }
        #expect(try database.integer(segments) == 1)
        #expect(try hits(["all"], .init(limit: 9), in: database) == before)
        #expect(try hits(["all"], of: 2, .init(limit: 9), in: database).total == 3)
    }
}

@Suite("Rows that have all of several terms")
struct CommonRowsTests {
    private static let index = SearchIndex("term")
    private static let select = """
        SELECT term.rowid AS rank, 1 AS is_hit FROM term
        WHERE term MATCH :terms AND term.rowid < :before ORDER BY term.rowid DESC
        """

    private func database(_ rows: [(rank: Int64, terms: Set<String>)]) throws -> LarderDatabase {
        let database = try LarderDatabase.temporary(migrations: [SchemaMigration("test/001", sql: Self.index.creation)])
        try database.write { db in
            for row in rows { try Self.index.insert(row.terms, of: 1, at: row.rank, db) }
        }
        return database
    }

    private func hits(_ terms: [String], before: Int64? = nil, in database: LarderDatabase) throws -> SearchHits {
        let request = SearchHits.Request(limit: 20, before: before)
        return try database.read { db in
            try SearchHits(Self.select, Self.index.search(terms, of: 1), [:], request, db)
        }
    }

    /// Follows the pages to their end.
    private func all(_ terms: [String], in database: LarderDatabase) throws -> (ranks: [Int64], pages: Int) {
        var found: (ranks: [Int64], pages: Int) = ([], 0)
        var before: Int64?
        repeat {
            let page = try hits(terms, before: before, in: database)
            found.ranks += page.ranks
            found.pages += 1
            before = page.hasMore ? page.next : nil
        } while before != nil
        return found
    }

    @Test("NOTE-09 Two frequent words that never meet cost a bounded number of rows; further pages find what is there")
    func never() throws {
        // They meet once, in the oldest row.
        var rows: [(rank: Int64, terms: Set<String>)] = [(1, ["odd", "even"])]
        for rank in Int64(2)...60_000 { rows.append((rank, rank % 2 == 0 ? ["even"] : ["odd"])) }
        let database = try database(rows)
        let first = try hits(["odd", "even"], in: database)
        #expect(first.ranks.isEmpty && first.isCut && first.hasMore && first.total == nil)
        #expect(first.totalAtLeast == 0 && first.next.map { $0 > 5_000 && $0 < 15_000 } == true)
        let all = try all(["odd", "even"], in: database)
        #expect(all.ranks == [1] && all.pages <= 3)
        // A word without rows ends it at once, a rare one finds the others by look-ups.
        #expect(try hits(["odd", "none"], in: database).total == 0)
    }

    @Test("Rows with several terms are those that have each of them, whatever their number", arguments: 0..<6)
    func agreement(round: Int) throws {
        var random = SeededRandom(seed: UInt64(round))
        // Rare and frequent terms, also in long stretches.
        let names = ["a", "b", "c", "d"]
        let shares = names.map { _ in [1, 20, 500, 900][Int.random(in: 0..<4, using: &random)] }
        var rows: [(rank: Int64, terms: Set<String>)] = []
        for number in 1...3_000 {
            var terms: Set<String> = []
            for (position, name) in names.enumerated() where (number / 400 + position) % 5 != 0 {
                if Int.random(in: 0..<1000, using: &random) < shares[position] { terms.insert(name) }
            }
            rows.append((Int64(number * 7), terms))
        }
        let database = try database(rows)
        for terms in [["a", "b"], ["c", "a"], ["b", "c", "d"], names] {
            let expected = Array(rows.filter { $0.terms.isSuperset(of: terms) }.map(\.rank).reversed())
            #expect(try all(terms, in: database).ranks == expected)
            let page = try hits(terms, in: database)
            #expect(page.total ?? page.totalAtLeast == min(expected.count, SearchHits.counted + 1))
            #expect((page.total == nil) == (expected.count > SearchHits.counted))
        }
    }
}
