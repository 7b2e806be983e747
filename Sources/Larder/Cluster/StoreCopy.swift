import Cluster
import GRDB
import Screens
import Storage
import Synchronization

/// Copies users' data from a server's own database to the journal of several servers, as its snapshot, or back: all or
/// nothing. No server may use either store meanwhile. The cache is not copied.
struct StoreCopy: Sendable {
    /// Why nothing was copied; the text is for the operator.
    enum Refusal: Error, CustomStringConvertible {
        /// Servers use the shared store.
        case inUse(connections: Int)
        /// The target has rows.
        case notEmpty(table: String)

        var description: String {
            switch self {
            case .inUse(let connections):
                "Servers use the store (\(HumanReadable.count(connections, "connection"))); stop them first."
            case .notEmpty(let table):
                "The target is not empty: it has rows of the table \(table). Copy to a new directory or a new database."
            }
        }
    }

    /// There are secrets, but no key for those of the shared store.
    struct KeyMissing: Error, CustomStringConvertible {
        let description = "There are tokens to seal, and no key of the shared store: name its file."
    }

    enum Direction: Sendable { case toShared, toLocal }

    struct Count: Sendable {
        let table: String
        let rows: Int
    }

    private static let timeout = Duration.seconds(86_400)

    let local: LarderDatabase
    let shared: PostgresDatabase
    private let journal: JournalCopy
    private let seal: ClusterSeal?

    /// - Parameters:
    ///   - apps: All apps.
    ///   - seal: Seals the secrets of the shared store; nil if its key is not known.
    init(_ apps: AppList, local: LarderDatabase, shared: PostgresDatabase, seal: ClusterSeal?) {
        self.seal = apps.sealsSharedSecrets ? seal : nil
        journal = JournalCopy(apps.replicated.tables, schema: apps.replicated.schema, of: local, in: shared)
        self.local = local
        self.shared = shared
    }

    /// Refuses a store that servers use.
    ///
    /// - Throws: ``Refusal``, `ClusterError`.
    static func check(_ shared: PostgresDatabase) async throws {
        let servers = try await shared.read { try PostgresDatabase.servers(in: $0) }
        guard servers == 0 else { throw Refusal.inUse(connections: servers) }
    }

    /// - Returns: The numbers of rows by table.
    /// - Throws: ``Refusal``, ``KeyMissing``, `ClusterSeal.WrongKey`, `StorageError`, `ClusterError`.
    func run(_ direction: Direction) async throws -> [Count] {
        let secrets = try SealedSecrets(local)
        if direction == .toShared {
            let cookies = try SessionCookies(UserDatabase(local))
            try await local.write { try cookies.record($0) }
        }
        // The result of a copy to a directory.
        let kept = Mutex<[Count]?>(nil)
        do {
            // The lock makes a server that is started meanwhile wait before it makes tables.
            return try await shared.write(locks: [PostgresDatabase.schemaLock], within: Self.timeout) { transaction in
                // With this lock, a server that was not counted can read but cannot write.
                try transaction.execute("LOCK TABLE journal, journal_snapshot IN EXCLUSIVE MODE")
                let servers = try PostgresDatabase.servers(in: transaction)
                guard servers == 0 else { throw Refusal.inUse(connections: servers) }
                try seal?.check(transaction)
                switch direction {
                case .toShared:
                    guard try JournalCopy.isEmpty(transaction) else { throw Refusal.notEmpty(table: "journal") }
                    return try local.read { db in
                        try journal.copy(db, to: transaction) { table, row in
                            guard table == UserSecrets.table else { return Array(row.databaseValues) }
                            return try UserSecrets(secrets).resealed(row, by: try requireSeal().userSecrets)
                        }
                        return try rowCounts(db)
                    }
                case .toLocal:
                    let counts = try copy(transaction, secrets)
                    kept.withLock { $0 = counts }
                    return counts
                }
            }
        } catch {
            // The directory is complete. A later failure of the shared store, which was only read, is ignored.
            guard let counts = kept.withLock(\.self) else { throw error }
            return counts
        }
    }

    /// Copies the rows of the journal to an empty directory, in one transaction, while servers run.
    ///
    /// - Throws: as ``run(_:)``.
    func runBesideServers() async throws {
        let secrets = try SealedSecrets(local)
        _ = try await shared.read { transaction in
            if let seal, try !seal.isRecorded(in: transaction) { throw ClusterSeal.WrongKey() }
            return try copy(transaction, secrets)
        }
    }

    private func copy(_ transaction: SQLTransaction, _ secrets: SealedSecrets) throws -> [Count] {
        try local.write { db in
            if let table = try journal.firstWithRows(db) { throw Refusal.notEmpty(table: table) }
            try SessionCookies(ofJournal: try journal.copy(transaction, to: db)).record(db)
            if try UserSecrets.areIn(db) { try requireSeal().userSecrets.reseal(by: UserSecrets(secrets), in: db) }
            return try rowCounts(db)
        }
    }

    private func rowCounts(_ db: Database) throws -> [Count] {
        try journal.counts(db).map { Count(table: $0.table, rows: $0.rows) }
    }

    private func requireSeal() throws -> ClusterSeal {
        guard let seal else { throw KeyMissing() }
        return seal
    }
}
