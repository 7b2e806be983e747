import Cluster
import Concurrency
import Foundation
import Logging
import Screens
import ServiceLifecycle
import Storage

/// The connection of this process to the store that several processes share.
struct ClusterService: Service {
    let access: ClusterAccess
    /// Replicates the rows of users in the databases of the processes; nil for a process without a database.
    private(set) var journal: Journal?
    /// How long a server may reuse rows that it has read.
    let kept: Duration
    private let configuration: LarderConfiguration
    private let logger: Logger

    /// Connects to nothing yet. Returns nil without a store.
    ///
    /// - Parameter node: A name that no other process has.
    /// - Throws: `StorageError` if the key cannot be read.
    init?(_ configuration: LarderConfiguration, node: String, logger: Logger) throws {
        guard let store = configuration.store else { return nil }
        let seal = try store.seal()
        let database = PostgresDatabase(store.options, logger: logger)
        kept = configuration.settings[ServerSettings.storeKept]
        let changes = ClusterMessages(database, node: node, kept: kept, logger: logger)
        access = ClusterAccess(database: database, changes: changes, seal: seal)
        (self.configuration, self.logger) = (configuration, logger)
    }

    /// Checks the store, and makes the tables of all apps of this build, because other processes may serve other apps.
    ///
    /// - Throws: `ClusterError`, `ClusterSeal.WrongKey`, `CancellationError`.
    func prepare() async throws {
        try await access.database.checkSessions()
        let applied = try await access.database.migrate(configuration.apps.sharedMigrations)
        if !applied.isEmpty { logger.notice("tables of the shared store were made: \(applied)") }
        if configuration.apps.sealsSharedSecrets { try await access.seal?.check(access.database) }
    }

    /// Opens the store with the database of this process, which replicates the store from now on.
    ///
    /// A server may be started during a failover of the store. If its database was replicated before, the server begins
    /// with the rows that it has. Otherwise it waits for the store.
    ///
    /// - Throws: Errors that are not temporary; `CancellationError` if the server stops meanwhile.
    static func open(
        _ configuration: LarderConfiguration,
        node: String,
        _ local: LarderDatabase,
        logger: Logger
    ) async throws -> ClusterService? {
        guard var service = try ClusterService(configuration, node: node, logger: logger) else { return nil }
        do {
            let journal = service.journal(of: local, server: try local.identity())
            service.journal = journal
            if let failure = try await service.follow(waiting: !local.read(Journal.isFollowed)) {
                try journal.begin(without: failure)
            }
            journal.listen(to: service.access.changes)
            return service
        } catch {
            service.close()
            throw error
        }
    }

    /// Checks the store, and brings the database of this process up to date.
    ///
    /// Waits while errors are temporary, and logs each new one. A full disk, and a user or database that the store does
    /// not have, count as temporary only for a process that was serving before.
    ///
    /// - Parameter waiting: Whether to wait for a store that does not respond.
    /// - Returns: The error, as an unavailable store, if the store cannot be used yet; nil after success.
    private func follow(waiting: Bool) async throws -> ClusterError? {
        let isServing = journal?.isOfEarlierRun == true
        return try await cancelWhenGracefulShutdown {
            var logged: String?
            while true {
                do {
                    try await prepare()
                    try await journal?.prepare()
                    return nil
                } catch  where UserDatabase.isTemporary(error) {
                    if !isServing, case StorageError.diskFull = error { throw error }
                    var failure = ClusterError.unavailable(.notAccepting)
                    if case .unavailable(let reason) = error as? ClusterError {
                        if case .notAdmitted = reason, !isServing { throw error }
                        failure = .unavailable(reason)
                    }
                    guard waiting else { return failure }
                    let text = "\(error)"
                    if text != logged { logger.warning("waiting for the store", metadata: ["error": "\(text)"]) }
                    logged = text
                    try await configuration.clock.sleep(.seconds(2))
                }
            }
        }
    }

    /// Returns the journal for a file.
    func journal(of local: LarderDatabase, server: String = UUID().uuidString) -> Journal {
        let (tables, schema) = configuration.apps.replicated
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
        if journal?.isOfEarlierRun == true {
            do { _ = try await follow(waiting: true) } catch is CancellationError { return }
        }
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
