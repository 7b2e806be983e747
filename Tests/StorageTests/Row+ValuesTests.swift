import Foundation
import GRDB
import HTTPTypes
import TestKit
import Testing

@testable import Storage

/// Values of rows that a damaged page may have turned into others.
@Suite struct RowValuesTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    /// Reads one row, as a copy and in the cursor that has found it.
    private func reading<Value>(_ sql: String, _ read: (Row) throws -> Value) throws -> [Result<Value, any Error>] {
        try queue.read { db in
            let copy = try #require(try Row.fetchOne(db, sql: sql))
            let cursor = try Row.fetchCursor(db, sql: sql)
            let row = try #require(try cursor.next())
            return withExtendedLifetime(cursor) { [copy, row].map { row in Result { try read(row) } } }
        }
    }

    private func expectDamaged<Value>(_ results: [Result<Value, any Error>], _ comment: Comment) {
        for result in results {
            let error = #expect(throws: DatabaseError.self, comment) { try result.get() }
            #expect(error?.resultCode == .SQLITE_CORRUPT && error?.message?.contains("column ") == true, comment)
            let translated = error.map { StorageError.translating($0, path: "x") } as? StorageError
            guard case .damagedDatabase = translated else { return #expect(Bool(false), comment) }
        }
    }

    @Test("TRUST-24 a value of another type than its column is damage, by name and by position; no value is made up")
    func types() throws {
        for value in ["NULL", "x'ff00'", "'text'", "1e999"] {
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.value("a") as Int }, "\(value) as Int")
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.value(0) as Double }, "\(value) as Double")
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.value("a") as BlobID }, "\(value) as BlobID")
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.size("a") }, "\(value) as size")
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.date(0) as Date }, "\(value) as Date")
        }
        for value in ["NULL", "7", "7.5", "x'ff00'"] {
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.value("a") as String }, "\(value) as String")
        }
        for value in ["NULL", "x'ff00'", "'text'"] {
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.value(0) as Bool }, "\(value) as Bool")
        }
        for value in ["7", "x'ff00'"] {
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.value("a") as String? }, "\(value) as String?")
        }
        expectDamaged(try reading("SELECT 'text' AS a") { try $0.value("a") as Int? }, "text as Int?")
    }

    @Test("TRUST-24 numbers that are no size, no instant and no identity are damage")
    func ranges() throws {
        for value in ["-1", "281474976710657", "9223372036854775807"] {
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.size("a") }, "\(value)")
        }
        for value in ["-9223372036854775808", "9223372036854775807", "253402300800000"] {
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.date("a") as Date? }, "\(value)")
        }
        for value in ["-1", "0", "-9223372036854775808"] {
            expectDamaged(try reading("SELECT \(value) AS a") { try $0.value("a") as BlobID }, "\(value)")
        }
        expectDamaged(try reading("SELECT 'b' AS a") { try $0.value("a") { (text: String) in Int(text) } }, "convert")
        expectDamaged(try reading("SELECT '[1' AS a") { try $0.json("a") as [Int] }, "JSON")
        expectDamaged(try reading("SELECT '[\"b\"]' AS a") { try $0.json("a") as [Int] }, "JSON of others")
    }

    @Test("Values of the type of their column are read as they are stored, and a missing optional one is nil")
    func whole() throws {
        let sql = """
            SELECT 7 AS a, 'b' AS b, x'00ff' AS c, 1.5 AS d, NULL AS e, 1 AS f, '[1,2]' AS g, 1000 AS h, 2.0 AS i
            """
        let integers = try reading(sql) { try [$0.value("a"), $0.value(0), $0.size("a"), $0.value("i")] as [Int?] }
        for result in integers { #expect(try result.get() == [7, 7, 7, 2]) }
        let texts = try reading(sql) { try [$0.value("b"), $0.value(1)] as [String?] }
        for result in texts { #expect(try result.get() == ["b", "b"]) }
        for result in try reading(sql, { try $0.value("c") as Data }) { #expect(try result.get() == Data([0, 255])) }
        for result in try reading(sql, { try $0.value("d") as Double }) { #expect(try result.get() == 1.5) }
        for result in try reading(sql, { try $0.value("f") as Bool }) { #expect(try result.get()) }
        for result in try reading(sql, { try $0.json("g") as [Int] }) { #expect(try result.get() == [1, 2]) }
        let times = try reading(sql) { try [$0.date("h"), $0.date(7)] as [Date] }
        for result in times { #expect(try result.get().allSatisfy { $0 == Date(timeIntervalSince1970: 1) }) }
        let none = try reading(sql) { try [$0.value("e"), $0.value(4), $0.value("absent")] as [String?] }
        for result in none { #expect(try result.get() == [nil, nil, nil]) }
        for result in try reading(sql, { try $0.date("e") as Date? }) { #expect(try result.get() == nil) }
        expectDamaged(try reading(sql) { try $0.value("absent") as Int }, "a column that is missing")
    }

    @Test("TRUST-24 fetched values that have another type are damage, too")
    func fetched() throws {
        try queue.read { db in
            let error = #expect(throws: RowDecodingError.self) { try String.fetchAll(db, sql: "SELECT NULL") }
            let translated = error.map { StorageError.translating($0, path: "x") } as? StorageError
            #expect(
                translated == .damagedDatabase(path: "x", detail: "a value has another type than its column"),
                "without the row, which may be private"
            )
            let text = Data("[1".utf8)
            let json = #expect(throws: DecodingError.self) { try JSONDecoder().decode([Int].self, from: text) }
            #expect(json.map { StorageError.translating($0, path: "x") } as? StorageError == translated)
        }
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

@Suite struct FieldCodingTests {
    @Test("Long values and empty ones come back", arguments: [0, 1, 127, 128, 16_383, 16_384, 70_000])
    func lengths(count: Int) {
        let fields: HTTPFields = [.eTag: String(repeating: "v", count: count), .accept: ""]
        #expect(FieldCoding.decode(FieldCoding.encode(fields)) == fields)
    }

    @Test("Bytes that were cut off or changed are refused or read as other fields, but never beyond their end")
    func damaged() {
        let bytes = FieldCoding.encode([.eTag: String(repeating: "v", count: 300), .accept: "*/*"])
        #expect(FieldCoding.decode(bytes.dropLast()) == nil)
        for position in bytes.indices {
            let prefix = FieldCoding.decode(bytes.prefix(position))
            #expect(prefix == nil || prefix?.isEmpty == true || prefix?.count == 1)
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                var changed = bytes
                changed[position] = value
                #expect((FieldCoding.decode(changed)?.count ?? 0) <= 150)
            }
        }
        #expect(FieldCoding.decode(Data(repeating: 0xFF, count: 30)) == nil)
    }

    @Test("Fields written in another order or case have one canonical form; the order of one name's values counts")
    func canonicalForm() throws {
        let upper = try #require(HTTPField.Name("ACCEPT"))
        func form(_ fields: [HTTPField]) -> Data {
            FieldCoding.encode(FieldCoding.canonicalForm(of: HTTPFields(fields)))
        }
        let a = HTTPField(name: .accept, value: "a")
        let b = HTTPField(name: .accept, value: "b")
        let language = HTTPField(name: .acceptLanguage, value: "de")
        #expect(form([a, language]) == form([language, HTTPField(name: upper, value: "a")]))
        #expect(form([a, b]) != form([b, a]))
    }
}

@Suite struct JSONTextsTests {
    @Test(
        "SQLite reads back the texts of which a JSON array was made",
        arguments: [
            [], [""], ["disk:/a b", "ж\u{1F600}"], ["\"quoted\"", "back\\slash", "\u{1}\n\t\u{1F}"],
        ]
    )
    func isReadBack(texts: [String]) throws {
        let database = try LarderDatabase.temporary()
        let read = try database.read { db in
            try String.fetchAll(db, sql: "SELECT value FROM json_each(?) ORDER BY key", arguments: [texts.jsonArray])
        }
        #expect(read == texts)
    }
}

@Suite struct KeyPrefixTests {
    @Test("The range of a prefix ends before the first text that does not begin with it")
    func end() {
        #expect(KeyPrefix("/a/").end == "/a0")
        #expect(KeyPrefix("a\u{D7FF}").end == "a\u{E000}")
        #expect(KeyPrefix("a\u{10FFFF}").end == "b")
        #expect(KeyPrefix("\u{10FFFF}").end == nil)
        #expect(KeyPrefix("").end == nil)
    }
}
