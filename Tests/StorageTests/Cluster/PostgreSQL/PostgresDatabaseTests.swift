import Synchronization
import Testing

@testable import Cluster

@Suite struct PostgresDatabaseTests {
    private struct Failed: Error {}

    @Test("What a write returns was committed, and another server reads it; an error undoes all of it")
    func commits() async throws {
        let store = try await Store().withCounters()
        try await store.database.write { try $0.increment("a") }
        await #expect(throws: Failed.self) {
            try await store.database.write { transaction in
                try transaction.increment("b")
                throw Failed()
            }
        }
        let found = try await store.other().rows("SELECT name FROM counter") { try $0.value("name") as String }
        #expect(found == ["a"])
    }

    @Test("Changes of the same turn run one after the other on two servers, and none is lost")
    func turns() async throws {
        let store = try await Store { $0.connections = 4 }.withCounters()
        let other = store.other()
        try await withThrowingTaskGroup { group in
            for number in 0..<60 {
                let database = number.isMultiple(of: 2) ? store.database : other
                group.addTask {
                    // Named in both orders: the locks are taken in one.
                    let turns = number.isMultiple(of: 3) ? ["a", "b"] : ["b", "a"]
                    try await database.write(locks: turns) { transaction in
                        try transaction.increment("a")
                        try transaction.increment("b")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.counters() == ["a": 60, "b": 60])
    }

    @Test("A change without a turn is repeated if another one came in between")
    func repeated() async throws {
        let store = try await Store().withCounters()
        let other = store.other()
        let gate = ThreadGate()
        let attempts = Atomic(0)
        try await store.database.write { try $0.increment("a") }
        async let first: Void = store.database.write { transaction in
            let value: Int? = try transaction.rows("SELECT value FROM counter").first?.value("value")
            if attempts.add(1, ordering: .relaxed).newValue == 1 { gate.hold() }
            try transaction.execute("UPDATE counter SET value = $1", [(value ?? 0) + 1])
        }
        await gate.arrived()
        try await other.write { try $0.increment("a") }
        gate.open()
        try await first
        #expect(attempts.load(ordering: .relaxed) == 2)
        #expect(try await store.counters() == ["a": 3])
    }

    @Test("A change that always conflicts ends as unavailable, after a limited number of attempts")
    func contended() async throws {
        let store = try await Store()
        let attempts = Atomic(0)
        await #expect(throws: ClusterError.unavailable(.contended)) {
            try await store.database.write { transaction in
                attempts.add(1, ordering: .relaxed)
                // A caller that hides the error does not prevent the repetition.
                _ = try? transaction.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$")
            }
        }
        #expect(attempts.load(ordering: .relaxed) == TransactionPlan.mostAttempts)
    }

    @Test("Reads within one read are of one state")
    func snapshot() async throws {
        let store = try await Store().withCounters()
        let other = store.other()
        let gate = ThreadGate()
        async let counts = store.database.read { transaction in
            let before = try transaction.rows("SELECT 1 AS one FROM counter").count
            gate.hold()
            return [before, try transaction.rows("SELECT 1 AS one FROM counter").count]
        }
        await gate.arrived()
        try await other.write { try $0.increment("a") }
        gate.open()
        #expect(try await counts == [0, 0])
    }

    @Test("A read cannot change anything, in whatever form")
    func readOnly() async throws {
        let store = try await Store().withCounters()
        let insert = "INSERT INTO counter VALUES ('a', 1)"
        await #expect(throws: ClusterError.unavailable(.notAccepting)) {
            try await store.database.read { _ = try $0.execute(insert) }
        }
        await #expect(throws: ClusterError.unavailable(.notAccepting)) {
            try await store.database.rows(insert) { _ in }
        }
        #expect(try await store.counters() == [:])
    }

    @Test("A key that exists is named by its constraint, also if it is found at the commit")
    func unique() async throws {
        let store = try await Store().withCounters()
        try await store.database.write { try $0.increment("a") }
        await #expect(throws: ClusterError.notUnique(constraint: "counter_pkey")) {
            try await store.database.write { try $0.execute("INSERT INTO counter VALUES ('a', 2)") }
        }
        try await store.database.write { transaction in
            try transaction.execute(
                "ALTER TABLE counter ADD CONSTRAINT late UNIQUE (value) DEFERRABLE INITIALLY DEFERRED"
            )
        }
        await #expect(throws: ClusterError.notUnique(constraint: "late")) {
            try await store.database.write { try $0.execute("INSERT INTO counter VALUES ('b', 1)") }
        }
        #expect(try await store.counters() == ["a": 1])
    }

    @Test("A statement that is refused is an error of the program, and the next transaction is not affected")
    func refused() async throws {
        let store = try await Store { $0.connections = 1 }.withCounters()
        let error = await #expect(throws: ClusterError.self) {
            try await store.database.write { try $0.execute("SELECT nothing") }
        }
        guard case .refused(let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.code == "42703")
        try await store.database.write { try $0.increment("a") }
        #expect(try await store.counters() == ["a": 1])
    }

    @Test("An error that the change hides still undoes it: what was not done is not acknowledged")
    func hidden() async throws {
        let store = try await Store().withCounters()
        await #expect(throws: ClusterError.notUnique(constraint: "counter_pkey")) {
            try await store.database.write { transaction in
                try transaction.increment("a")
                _ = try? transaction.execute("INSERT INTO counter VALUES ('a', 2)")
            }
        }
        #expect(try await store.counters() == [:])
    }

    @Test("Many statements of different texts do not fill the server: the names are given up")
    func manyStatements() async throws {
        let store = try await Store { $0.connections = 1 }
        let most = try await store.database.read { transaction in
            for number in 0..<1100 { _ = try transaction.rows("SELECT \(number) AS n") }
            return try transaction.rows("SELECT count(*) AS n FROM pg_prepared_statements").first?.value("n") as Int?
        }
        #expect((1...500).contains(try #require(most)))
    }
}

/// The example of the module's article.
@Suite struct ClusterArticleTests {
    private func visit(_ page: String, on database: PostgresDatabase) async throws {
        try await database.write(locks: ["visits/\(page)"]) { transaction in
            let count: Int? = try transaction.rows("SELECT count FROM visit WHERE page = $1", [page]).first?.value(
                "count"
            )
            try transaction.execute("DELETE FROM visit WHERE page = $1", [page])
            try transaction.execute("INSERT INTO visit VALUES ($1, $2)", [page, (count ?? 0) + 1])
        }
    }

    @Test("Two servers that count at the same time lose nothing")
    func example() async throws {
        let store = try await Store()
        let (first, second) = (store.database, store.other())
        let migration = PostgresMigration(
            "example/001",
            sql: "CREATE TABLE visit (page text PRIMARY KEY, count int8 NOT NULL)"
        )
        try await first.migrate([migration])
        async let others: Void = visit("start", on: second)
        try await visit("start", on: first)
        try await others
        let counts = try await first.rows("SELECT count FROM visit WHERE page = $1", ["start"]) { row in
            try row.value("count") as Int
        }
        #expect(counts == [2])
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
