import Foundation
package import Screens
package import Storage
package import Testing

@testable package import Cluster

extension ClusterAccess {
    /// Opens a new schema of the tests' PostgreSQL, with the tables of some steps. Messages between servers
    /// is heard while ``ClusterMessages/run()`` runs.
    ///
    /// - Parameters:
    ///   - kept: how long a server may rely on rows that it has read.
    ///   - server: the PostgreSQL, if the test stops it.
    package static func temporary(
        _ migrations: [PostgresMigration] = Journal.storeMigrations,
        kept: Duration = .seconds(1),
        on server: RunningPostgres? = nil
    ) async throws -> ClusterAccess {
        let shared = try await RunningPostgres.shared.value
        let server = server ?? shared
        let schema = try server.schema()
        var options = PostgresOptions(url: "\(server.address())&options=-csearch_path%3D\(schema)")
        // Longer than the slowest machine takes for anything that is not meant to be late.
        options.timeout = .seconds(60)
        (options.name, options.channel, options.connections) = (schema, schema, 4)
        let database = PostgresDatabase(options, logger: .quiet)
        try await database.migrate(migrations)
        return ClusterAccess(database: database, kept: kept)
    }

    /// Opens the same schema as another server does.
    package func otherServer(kept: Duration = .seconds(1)) -> ClusterAccess {
        ClusterAccess(database: database, kept: kept)
    }

    /// Lets two servers hear each other until the task is cancelled; returns once both do.
    package func hear(_ other: ClusterAccess) async -> Task<Void, any Error> {
        let running = Task {
            async let first: Void = changes.run()
            async let second: Void = other.changes.run()
            _ = try await (first, second)
        }
        await BoundedWait.poll(for: "both to hear") { changes.isConnected && other.changes.isConnected }
        return running
    }

    /// Returns the rows of users in the file of one of the servers, which follows the others.
    ///
    /// - Parameter kept: how long a read may rely on the rows without asking for changes of others.
    package func users(
        in database: LarderDatabase,
        _ tables: JournalTables,
        kept: Duration = .zero
    ) -> UserDatabase {
        let journal = Journal(
            of: database,
            in: self.database,
            tables: tables,
            server: UUID().uuidString,
            schema: 1,
            logger: .quiet
        )
        journal.listen(to: changes)
        return UserDatabase(database, journal, kept: kept)
    }

    /// Cuts the whole journal behind a snapshot of the file of one of the servers.
    package func cutJournal(
        for file: LarderDatabase,
        _ tables: JournalTables,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var limits = JournalLimits()
        (limits.kept, limits.rows) = (0, 0)
        let journal = Journal(
            of: file,
            in: database,
            tables: tables,
            server: "cutting",
            schema: 1,
            limits: limits,
            logger: .quiet
        )
        try await journal.catchUp()
        try await journal.snapshots.cutIfLong()
        let left = try await database.rows("SELECT 1 AS row FROM journal") { try $0.value("row") as Int }
        #expect(left == [], sourceLocation: sourceLocation)
    }

    private init(database: PostgresDatabase, kept: Duration) {
        let changes = ClusterMessages(database, node: UUID().uuidString, kept: kept, logger: .quiet)
        self.init(database: database, changes: changes)
    }
}

/// The stores of the tests that have to pass on both.
package enum StoreKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case sqlite, postgresql

    /// The name.
    package var testDescription: String { rawValue }
}

extension PostgresDatabase {
    /// Has commits wait for a standby; for none if the name is empty. Returns when they do.
    package static func require(standby: String, _ options: PostgresOptions) async throws {
        let database = PostgresDatabase(options, logger: .quiet)
        defer { database.close() }
        _ = try await database.rows("ALTER SYSTEM SET synchronous_standby_names = '\(standby)'") { _ in }
        _ = try await database.rows("SELECT pg_reload_conf()::text AS done") { _ in }
        // A new connection has the settings of the postmaster.
        try await BoundedWait.poll(for: "the setting") {
            let other = PostgresDatabase(options, logger: .quiet)
            defer { other.close() }
            let sql = "SELECT current_setting('synchronous_standby_names') AS names"
            return try await other.rows(sql) { try $0.value("names") as String } == [standby]
        }
        // The checkpointer decides whether commits wait. It reads its settings before it makes a checkpoint.
        _ = try await database.rows("CHECKPOINT") { _ in }
    }
}
