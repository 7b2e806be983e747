import Synchronization
import TestKit
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

@Suite struct ConnectionPoolTests {
    @Test("At most so many transactions run at a time, the next wait, and more are refused at once")
    func bounds() async throws {
        let store = try await Store {
            $0.connections = 2
            $0.maximumWaiting = 1
        }
        let gate = ThreadGate()
        await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    await Task {
                        try await store.database.read { _ in
                            gate.hold()
                            return 1
                        }
                    }.result
                }
            }
            await gate.arrived(2)
            for _ in 0..<2 {
                group.addTask { await Task { try await store.database.read { _ in 2 } }.result }
            }
            // One of these two waits, the other has no place to wait. Nothing else ends before the gate is open.
            let refusal = await group.next()
            #expect(throws: ClusterError.unavailable(.tooManyWaiting)) { try refusal?.get() }
            gate.open()
            var results: [Int?] = []
            for await result in group { results.append(try? result.get()) }
            #expect(results.compactMap(\.self).sorted() == [1, 1, 2])
        }
    }

    @Test("A statement that takes too long is given up, and its connection is not used again")
    func late() async throws {
        let store = try await Store().withCounters()
        let hasty = store.other { $0.timeout = .milliseconds(300) }
        let gate = ThreadGate()
        async let holder: Void = store.database.write { transaction in
            try transaction.execute("LOCK TABLE counter")
            gate.hold()
        }
        await gate.arrived()
        await #expect(throws: ClusterError.unavailable(.timedOut)) {
            try await hasty.write { try $0.increment("a") }
        }
        gate.open()
        try await holder
        #expect(try await store.counters() == [:])
    }

    @Test("After the end, callers are told so")
    func closed() async throws {
        let store = try await Store()
        _ = try await store.database.rows("SELECT 1 AS one") { _ in }
        store.database.close()
        await #expect(throws: ClusterError.closed) { try await store.database.read { _ in } }
    }
}
