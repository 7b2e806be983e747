import Foundation
import GRDB
import Storage
import TestKit
import Testing

@testable import Cluster

/// Writes while PostgreSQL ends, or the connection to it: one test after the other, since they share the server.
@Suite(.serialized, .timeLimit(.minutes(5))) struct JournalFaultTests {
    private static let server = Task { try await RunningPostgres.start() }

    /// Runs a statement on a connection of its own, from a thread that may wait.
    private static func run(_ sql: String, _ options: PostgresOptions) throws {
        let connection = try PostgresConnection.open(options)
        connection.deadline = Deadline(after: .seconds(60))
        try connection.run("SET default_transaction_read_only = off")
        try connection.run(sql)
    }

    private static func terminate(_ options: PostgresOptions, where condition: String) throws {
        try run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = '\(options.name)' AND pid <> pg_backend_pid() AND \(condition)
            """,
            options
        )
    }

    @Test("A connection that is cut within a write leaves nothing of it, here and in the journal; the next one works")
    func cut() async throws {
        let cluster = try await JournalCluster(on: Self.server.value)
        let (one, other) = (try await cluster.server("one"), try await cluster.server("other"))
        try await Harbour.count("counter", on: one)
        let before = try one.contents()
        await #expect(throws: ClusterError.unavailable(.connectionLost)) {
            try await one.journal.write(scope: "counter") { db in
                try db.execute(sql: "UPDATE hidden_ship SET revision = 100")
                try Self.terminate(cluster.options, where: "state = 'idle in transaction'")
            }
        }
        #expect(try one.contents() == before)
        #expect(try await cluster.numbers().count == 1)
        #expect(try await Harbour.count("counter", on: other) == 2)
        #expect(try await Harbour.count("counter", on: one) == 3)
    }

    @Test("SCALE-25 A request that reads and writes waits once for a store that hangs")
    func hanging() async throws {
        let timeout = Duration.seconds(2)
        let cluster = try await JournalCluster(on: Self.server.value, timeout: timeout)
        let server = try await cluster.server("one")
        let holder = try PostgresConnection.open(cluster.options)
        holder.deadline = Deadline(after: .seconds(60))
        try holder.run("SET idle_in_transaction_session_timeout = 0; SET default_transaction_read_only = off")
        try holder.run("BEGIN")
        try holder.run("LOCK TABLE journal")
        let timedOut = ClusterError.unavailable(.timedOut)
        let start = ContinuousClock.now
        await #expect(throws: timedOut) { try await server.journal.catchUp(unlessWithin: .zero) }
        await #expect(throws: timedOut) { _ = try await Harbour.hide(1, for: 1, on: server) }
        #expect(start.duration(to: .now) < timeout + .seconds(1))
        try holder.run("ROLLBACK")
        await BoundedWait.poll(for: "the store") { (try? await Harbour.hide(1, for: 1, on: server)) != nil }
    }

    @Test("SCALE-25 Scopes of an app that others hold delay no other app, and PostgreSQL does not count as away")
    func contended() async throws {
        let cluster = try await JournalCluster(on: Self.server.value, timeout: .seconds(3))
        let server = try await cluster.server("one")
        let holder = try PostgresConnection.open(cluster.options)
        holder.deadline = Deadline(after: .seconds(60))
        try holder.run("SET idle_in_transaction_session_timeout = 0; BEGIN")
        for scope in 0..<12 { try holder.run("SELECT pg_advisory_xact_lock(hashtextextended('notes/\(scope)', 0))") }
        let late = try await withThrowingTaskGroup(of: Bool.self) { group in
            for write in 0..<36 {
                group.addTask {
                    do {
                        try await server.journal.write(scope: "notes/\(write % 12)") { _ in }
                        return false
                    } catch ClusterError.unavailable(.timedOut) {
                        return true
                    }
                }
            }
            // The others wait now, and run out of time one after the other.
            for _ in 0..<40 {
                try await server.journal.catchUp(unlessWithin: .zero)
                _ = try await Harbour.hide(1, for: 1, on: server)
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(late.allSatisfy { $0 })
        _ = try await Harbour.hide(1, for: 1, on: server)
        #expect(server.journal.failure == nil)
        try holder.run("ROLLBACK")
    }

    @Test("While PostgreSQL is away, writes fail and reads go on; afterwards both servers are alike")
    func away() async throws {
        let postgres = try await Self.server.value
        let cluster = try await JournalCluster(on: postgres)
        let (one, other) = (try await cluster.server("one"), try await cluster.server("other"))
        try await Harbour.count("counter", on: one)
        try postgres.stop("immediate")
        await #expect(throws: ClusterError.self) { try await Harbour.count("counter", on: one) }
        await #expect(throws: ClusterError.self) { try await one.journal.catchUp() }
        #expect(try Harbour.counter("counter", on: one) == 1)
        try postgres.restart()
        await BoundedWait.poll(for: "a write") { (try? await Harbour.count("counter", on: other)) == 2 }
        await BoundedWait.poll(for: "the other server") { (try? await one.journal.catchUp()) != nil }
        #expect(try one.contents() == other.contents())
    }

    private static func commitWaits(in cluster: JournalCluster) async throws {
        try await BoundedWait.poll(for: "a commit that waits") {
            let sql =
                "SELECT 1::int8 AS one FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'SyncRep'"
            return try await !cluster.database.rows(sql, [cluster.options.name]) { try $0.value("one") as Int }.isEmpty
        }
    }

    @Test("A write whose commit was cut off is looked up in the journal: one that is there is acknowledged and applied")
    func committed() async throws {
        let cluster = try await JournalCluster(on: Self.server.value)
        let one = try await cluster.server("one")
        try await PostgresDatabase.require(standby: "away", cluster.options)
        let written = Task { try await Harbour.count("counter", on: one) }
        try await Self.commitWaits(in: cluster)
        try Self.terminate(cluster.options, where: "wait_event = 'SyncRep'")
        try await PostgresDatabase.require(standby: "", cluster.options)
        #expect(try await written.value == 1)
        #expect(try Harbour.counter("counter", on: one) == 1)
        #expect(try await cluster.numbers().count == 1)
    }

    @Test("A write whose commit was cut off before it was made is looked up as well: it has failed")
    func notCommitted() async throws {
        let cluster = try await JournalCluster(on: Self.server.value)
        let one = try await cluster.server("one")
        try Self.run(
            """
            CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NULL; END
            $$;
            CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON journal DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION cut()
            """,
            cluster.options
        )
        await #expect(throws: ClusterError.unavailable(.connectionLost)) {
            try await Harbour.count("counter", on: one)
        }
        try Self.run("DROP TRIGGER cut ON journal", cluster.options)
        #expect(try await cluster.numbers() == [])
        #expect(try await Harbour.count("counter", on: one) == 1)
    }

    @Test("A write whose commit was cut off and that cannot be looked up is an error that names it; no one guesses")
    func unknown() async throws {
        let postgres = try await Self.server.value
        let cluster = try await JournalCluster(on: postgres)
        let server = try await cluster.server("one")
        let journal = Journal(
            of: server.database,
            in: PostgresDatabase(cluster.options, logger: .quiet),
            tables: Harbour.tables,
            server: "one",
            schema: 1,
            logger: .quiet,
            sleep: { _ in }
        )
        try await PostgresDatabase.require(standby: "away", cluster.options)
        let id = UUID()
        let written = Task {
            try await journal.write(scope: "ships", id: id) { db in
                try db.execute(sql: "INSERT INTO ship_revision VALUES (1, 7)")
            }
        }
        try await Self.commitWaits(in: cluster)
        try postgres.stop("immediate")
        await #expect(throws: JournalError.outcomeUnknown(write: id)) { try await written.value }
        #expect(try server.database.integer("SELECT last FROM ship_revision") == nil)
        try postgres.restart()
        try await PostgresDatabase.require(standby: "", cluster.options)
        await BoundedWait.poll(for: "a connection") { (try? await journal.catchUp()) != nil }
        #expect(try server.database.integer("SELECT last FROM ship_revision") == 7)
        await #expect(throws: JournalError.alreadyWritten(id)) {
            try await journal.write(scope: "ships", id: id) { db in
                try db.execute(sql: "UPDATE ship_revision SET last = 8")
            }
        }
    }
}
