import Foundation
import Testing

@testable import Cluster

@Suite struct SQLParameterTests {
    private static let sql = """
        SELECT $1 AS number, $2 AS small, $3 AS ratio, $4 AS flag, $5 AS text, $6 AS bytes, $7 AS none, $8 AS empty
        """

    @Test("Values come back as they were sent, and NULL as nil", arguments: [0, 1, -1, Int.max, Int.min])
    func roundTrip(number: Int) async throws {
        let store = try await Store()
        let text = "Grüße, ёлка 🎄 '\\ $1 \u{1}"
        let bytes = Data(0...255)
        let parameters: [any SQLParameter] = [
            number, Int64(number), Double.leastNonzeroMagnitude, true, text, bytes, String?.none, "",
        ]
        let isEqual = try await store.database.read { transaction in
            let row = try #require(try transaction.rows(Self.sql, parameters).first)
            let numbers: [Int] = [try row.value("number"), try row.value("small")]
            let (ratio, flag): (Double, Bool) = (try row.value("ratio"), try row.value("flag"))
            let texts: [String?] = [try row.value("text"), try row.value("none"), try row.value("empty")]
            let sent: Data = try row.value("bytes")
            return numbers == [number, number] && ratio == .leastNonzeroMagnitude && flag
                && texts == [text, nil, ""] && sent == bytes
        }
        #expect(isEqual)
    }

    @Test("Numbers of each width are read; a NULL or another type is an error and no trap")
    func types() async throws {
        let store = try await Store()
        let sql = "SELECT 1::int2 AS a, 2::int4 AS b, NULL::int8 AS c, 'x'::varchar AS d, 1.5::numeric AS e"
        try await store.database.read { transaction in
            let row = try #require(try transaction.rows(sql).first)
            let small: [Int] = [try row.value("a"), try row.value("b")]
            let texts: String = try row.value("d")
            #expect(small == [1, 2] && texts == "x")
            for (column, error) in [
                ("c", ClusterError.typeMismatch(column: "c")), ("d", .typeMismatch(column: "d")),
                ("e", .typeMismatch(column: "e")), ("f", .noSuchColumn("f")), ("A", .noSuchColumn("A")),
            ] {
                #expect(throws: error) { let _: Int = try row.value(column) }
            }
        }
    }

    @Test("An array is one parameter, also an empty one", arguments: [[], ["b"], ["c", "", "a'b,{}\"\\", "NULL"]])
    func arrays(texts: [String]) async throws {
        let store = try await Store()
        let found: [String] = try await store.database.rows(
            "SELECT text FROM unnest($1) WITH ORDINALITY AS t(text, place) ORDER BY place",
            [texts]
        ) { try $0.value("text") }
        #expect(found == texts)
        let count: [Int] = try await store.database.rows(
            "SELECT count(*) AS count FROM unnest($1) AS n WHERE n = ANY($1)",
            [texts.map(\.count)]
        ) { try $0.value("count") }
        #expect(count == [texts.count])
    }

    @Test("A text with U+0000 is refused before anything is sent, and the transaction can go on")
    func zero() async throws {
        let store = try await Store()
        try await store.database.write { transaction in
            for value: any SQLParameter in ["a\0b", ["\0"]] {
                #expect(throws: ClusterError.textNotStorable) { try transaction.rows("SELECT $1 AS t", [value]) }
            }
            try transaction.execute("CREATE TABLE later (id int)")
        }
        let found: [Int] = try await store.database.rows("SELECT id FROM later") { try $0.value("id") }
        #expect(found == [])
    }
}
