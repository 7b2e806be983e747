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
