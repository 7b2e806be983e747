import Cluster
import Concurrency
import Foundation
import Logging
import Screens
import ServiceLifecycle
import Storage

/// The store that several processes share, while this one runs.
struct ClusterService: Service {
    let access: ClusterAccess
    /// Keeps the rows of users in the processes' own databases alike; nil for a process without one.
    private(set) var journal: Journal?
    /// How long a server may reuse rows that it has read.
    let kept: Duration

    /// Opens it, with the tables of all apps of this build: other processes may serve others. Nil without a store.
    ///
    /// - Parameter node: A name that no other process has.
    /// - Throws: `ClusterError`, `ClusterSeal.WrongKey`; `StorageError` if the key cannot be read.
    init?(_ configuration: LarderConfiguration, node: String, logger: Logger) async throws {
        guard let store = configuration.store else { return nil }
        let seal = try store.seal()
        let database = PostgresDatabase(store.options, logger: logger)
        do {
            try await database.checkSessions()
            let applied = try await database.migrate(configuration.apps.sharedMigrations)
            if !applied.isEmpty { logger.notice("tables of the shared store were made: \(applied)") }
            if configuration.apps.sealsSharedSecrets { try await seal?.check(database) }
        } catch {
            database.close()
            throw error
        }
        kept = configuration.settings[ServerSettings.storeKept]
        let changes = ClusterMessages(database, node: node, kept: kept, logger: logger)
        access = ClusterAccess(database: database, changes: changes, seal: seal)
    }

    /// Opens it, and waits for a store that does not respond yet: a server may be started while the store fails over.
    ///
    /// - Throws: Errors that do not pass by themselves; `CancellationError` if the server is to stop meanwhile.
    static func waiting(
        _ configuration: LarderConfiguration,
        node: String,
        _ local: LarderDatabase,
        logger: Logger
    ) async throws -> ClusterService? {
        try await cancelWhenGracefulShutdown {
            while true {
                do {
                    var service = try await ClusterService(configuration, node: node, logger: logger)
                    try await service?.follow(configuration.apps, in: local, logger: logger)
                    return service
                } catch ClusterError.unavailable(let reason) {
                    logger.warning("waiting for the store", metadata: ["error": "\(reason)"])
                    try await configuration.clock.sleep(.seconds(2))
                }
            }
        }
    }

    /// Brings the database of this process up to date, which follows the others from now on.
    ///
    /// - Throws: `ClusterError`, `JournalError`, `StorageError`; the store is closed then.
    private mutating func follow(_ apps: AppList, in local: LarderDatabase, logger: Logger) async throws {
        do {
            let journal = journal(of: local, apps, server: try local.identity(), logger: logger)
            try await journal.prepare()
            journal.listen(to: access.changes)
            self.journal = journal
        } catch {
            close()
            throw error
        }
    }

    /// Returns the journal for a file.
    func journal(
        of local: LarderDatabase,
        _ apps: AppList,
        server: String = UUID().uuidString,
        logger: Logger
    ) -> Journal {
        let (tables, schema) = apps.replicated
        return Journal(
            of: local,
            in: access.database,
            tables: tables,
            server: server,
            schema: schema,
            logger: logger
        )
    }

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await access.changes.run() }
                group.addTask { await journal?.run() }
                group.addTask { await journal?.keepRemovingContents() }
                try await group.waitForAll()
            }
        }
    }

    func close() { access.database.close() }
}
