import Foundation
import TestKit
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

@Suite struct PostgresMigrationTests {
    private let steps = [
        PostgresMigration("a/001", sql: "CREATE TABLE a (id int8 PRIMARY KEY); CREATE TABLE b (id int8 PRIMARY KEY)"),
        PostgresMigration("a/002", sql: "INSERT INTO a VALUES (1)"),
    ]

    @Test("Servers that start at the same time apply each step once between them")
    func together() async throws {
        let store = try await Store()
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<6 { group.addTask { try await store.other().migrate(steps) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied == ["a/001", "a/002"])
        #expect(try await store.database.rows("SELECT id FROM a") { try $0.value("id") as Int } == [1])
    }

    @Test("A newer build's steps are applied; an older build goes on with more steps of its owners, others are refused")
    func newer() async throws {
        let store = try await Store()
        try await store.database.migrate(steps)
        let later = PostgresMigration("a/003", sql: "ALTER TABLE a ADD COLUMN future text")
        #expect(try await store.database.migrate(steps + [later]) == ["a/003"])
        #expect(try await store.database.migrate(steps) == [])
        #expect(try await store.database.missing(of: steps) == [])
        let more = PostgresMigration("b/001", sql: "CREATE TABLE c (id int8)")
        #expect(try await store.database.migrate([more] + steps) == ["b/001"])
        #expect(try await store.database.migrate(steps + [more]) == [])
        await #expect(throws: ClusterError.newerSchema(unknownMigrations: ["b/001"])) {
            try await store.database.migrate(steps)
        }
    }

    @Test("If a step fails, none is applied")
    func failed() async throws {
        let store = try await Store()
        await #expect(throws: ClusterError.self) {
            try await store.database.migrate(steps + [PostgresMigration("a/003", sql: "CREATE TABLE a (id int8)")])
        }
        #expect(try await store.database.migrate(steps) == ["a/001", "a/002"])
    }

    @Test("Two steps of one name are a mistake of the build")
    func ambiguous() async throws {
        let store = try await Store()
        await #expect(throws: ClusterError.ambiguousMigration(name: "a/001")) {
            try await store.database.migrate(steps + steps)
        }
    }
}

@Suite struct ServerErrorTests {
    @Test(
        "A code of the server says whether to repeat, to try later, or to give up",
        arguments: [
            ("40001", ClusterError.unavailable(.contended)), ("40P01", .unavailable(.contended)),
            ("23505", .notUnique(constraint: "c")), ("53100", .diskFull),
            ("57014", .unavailable(.timedOut)), ("55P03", .unavailable(.timedOut)), ("25P03", .unavailable(.timedOut)),
            ("25006", .unavailable(.notAccepting)), ("53300", .unavailable(.notAccepting)),
            ("57P01", .unavailable(.connectionLost)), ("08006", .unavailable(.connectionLost)),
        ]
    )
    func meaning(code: String, meaning: ClusterError) {
        #expect(ServerError(code: code, constraint: "c").meaning == meaning)
    }

    @Test("What is not known is refused, with the server's sentence")
    func refused() {
        let error = ServerError(code: "42P01", message: "relation \"x\" does not exist")
        #expect(error.meaning == .refused(error))
        #expect("\(ClusterError.refused(error))".hasSuffix("SQLSTATE 42P01: relation \"x\" does not exist."))
    }

    @Test("Sentences that quote values are left out", arguments: ["22P02", "23514"])
    func quotes(code: String) {
        let error = ServerError(code: code, constraint: "positive", message: "invalid input: \"secret\"")
        #expect("\(error)" == "SQLSTATE \(code), positive")
    }

    @Test("Only errors of the checks before a commit say that nothing was committed")
    func commits() {
        for code in ["23505", "40001", "22003"] { #expect(ServerError(code: code).precedesCommit) }
        for code in ["57P01", "08006", "XX000", "58030"] { #expect(!ServerError(code: code).precedesCommit) }
    }
}
