import GRDB
import Storage
import TestKit
import Testing

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
