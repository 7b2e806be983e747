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
    private let configuration: LarderConfiguration
    private let logger: Logger

    /// Connects to nothing yet. Nil without a store.
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

    /// Checks the store, and makes the tables of all apps of this build: other processes may serve others.
    ///
    /// - Throws: `ClusterError`, `ClusterSeal.WrongKey`, `CancellationError`.
    func prepare() async throws {
        try await access.database.checkSessions()
        let applied = try await access.database.migrate(configuration.apps.sharedMigrations)
        if !applied.isEmpty { logger.notice("tables of the shared store were made: \(applied)") }
        if configuration.apps.sealsSharedSecrets { try await access.seal?.check(access.database) }
    }

    /// Opens it with the database of this process, which follows the others from now on. A server may be started while
    /// the store fails over: one that has followed the others before begins with the rows that it has, as if the store
    /// had gone just now; another one waits.
    ///
    /// - Throws: Errors that do not pass by themselves; `CancellationError` if the server is to stop meanwhile.
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

    /// Checks the store, and brings the database of this process up to date. It waits for faults that pass by
    /// themselves, and logs them when they change; for a user or a database that the store does not have, only a
    /// process that serves already waits.
    ///
    /// - Parameter waiting: Whether it waits for a store that does not respond.
    /// - Returns: Why it cannot be followed yet, as an unavailable store; nil if it is followed.
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
