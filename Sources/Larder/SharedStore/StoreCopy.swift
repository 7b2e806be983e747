import AppInterface
import Database
import GRDB
import Journal
import Screens
import SharedStore
import Synchronization

/// Copies users' data from a server's own database to a shared store, or back: all of it or nothing. Rows that are in
/// tables of the store are compared before the commit; those of the journal are its snapshot. No server may use either.
/// The cache is not copied.
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

    /// There are secrets, and no key for those of the shared store.
    struct KeyMissing: Error, CustomStringConvertible {
        let description = "There are tokens to seal, and no key of the shared store: name its file."
    }

    enum Direction: Sendable { case toShared, toLocal }

    /// The rows of a table.
    struct Count: Sendable {
        let table: String
        let rows: Int
    }

    /// The step, and its completed and total rows.
    typealias Progress = @Sendable (_ step: String, _ completed: Int, _ total: Int) -> Void

    /// The time that a copy may take.
    private static let timeout = Duration.seconds(86_400)

    let tables: [UserTable]
    let local: LarderDatabase
    let shared: SharedDatabase
    /// The tables that a journal has in the place of rows.
    private let journal: JournalCopy
    private let seal: SharedSeal?
    private let progress: Progress

    /// - Parameters:
    ///   - apps: All; those without tables of both are left out.
    ///   - seal: Seals the secrets of the shared store; nil if its key is not known.
    init(
        _ apps: AppList,
        local: LarderDatabase,
        shared: SharedDatabase,
        seal: SharedSeal?,
        progress: @escaping Progress = { _, _, _ in }
    ) {
        self.seal = apps.sealsSharedSecrets ? seal : nil
        let copied = apps.types.filter { $0.hasUserTables }
        tables = [Self.sessions(of: copied.map { $0.name })] + copied.flatMap { $0.userTables }
        journal = JournalCopy(apps.replicated.tables, schema: apps.replicated.schema, of: local, in: shared)
        self.local = local
        self.shared = shared
        self.progress = progress
    }

    /// Refuses a store that servers use.
    ///
    /// - Throws: ``Refusal``, `SharedStoreError`.
    static func check(_ shared: SharedDatabase) async throws {
        let servers = try await shared.read { try SharedDatabase.servers(in: $0) }
        guard servers == 0 else { throw Refusal.inUse(connections: servers) }
    }

    /// Copies.
    ///
    /// - Returns: The numbers of rows by table.
    /// - Throws: ``Refusal``, `UserTable.Difference`, ``KeyMissing``, `SharedSeal.WrongKey`, `StorageError`,
    ///   `SharedStoreError`.
    func run(_ direction: Direction) async throws -> [Count] {
        let secrets = try SealedSecrets(local)
        let cookies = try SessionCookies(secrets)
        let kept = Kept()
        do {
            // A server that starts meanwhile waits for its turn, with all that it does after making tables.
            return try await shared.write(turns: [SharedDatabase.schemaTurn], within: Self.timeout) { transaction in
                // A server that is not seen can read, but changes nothing.
                let names = tables.map(\.name).joined(separator: ", ")
                try transaction.execute("LOCK TABLE journal, journal_snapshot, \(names) IN EXCLUSIVE MODE")
                let servers = try SharedDatabase.servers(in: transaction)
                guard servers == 0 else { throw Refusal.inUse(connections: servers) }
                try seal?.check(transaction)
                switch direction {
                case .toShared:
                    try cookies.adopt(in: transaction)
                    guard try JournalCopy.isEmpty(transaction) else { throw Refusal.notEmpty(table: "journal") }
                    return try local.read { db in
                        try journal.copy(db, to: transaction) { table, row in
                            guard table == UserSecrets.table else { return Array(row.databaseValues) }
                            return try UserSecrets(secrets).resealed(row, by: try requireSeal().userSecrets)
                        }
                        return try copy(direction, db, transaction)
                    }
                case .toLocal:
                    let counts = try local.write { db in
                        if let table = try journal.firstWithRows(db) { throw Refusal.notEmpty(table: table) }
                        try journal.copy(transaction, to: db)
                        if try UserSecrets.areIn(db) {
                            try requireSeal().userSecrets.reseal(by: UserSecrets(secrets), in: db)
                        }
                        return try copy(direction, db, transaction)
                    }
                    kept.counts.withLock { $0 = counts }
                    return counts
                }
            }
        } catch {
            // The directory has it all. That the store, which was only read, has gone since is no failure.
            guard let counts = kept.counts.withLock(\.self) else { throw error }
            return counts
        }
    }

    private func requireSeal() throws -> SharedSeal {
        guard let seal else { throw KeyMissing() }
        return seal
    }

    private func copy(
        _ direction: Direction,
        _ db: Database,
        _ transaction: SQLTransaction
    ) throws -> [Count] {
        let isToShared = direction == .toShared
        for table in tables where table.beginsEmpty {
            let rows = isToShared ? try table.count(in: transaction) : try table.count(in: db)
            guard rows == 0 else { throw Refusal.notEmpty(table: table.name) }
        }
        let total = try tables.reduce(0) { $0 + (isToShared ? try $1.count(in: db) : try $1.count(in: transaction)) }
        let counter = Counter(total, progress)
        let copy = UserCopy(db, local.blobs, transaction, advance: counter.advance)
        for table in tables {
            counter.begin("copy", table)
            if isToShared { try table.copyToShared(copy) } else { try table.copyToLocal(copy) }
        }
        if !isToShared { for table in tables { try table.complete(db) } }
        return try compared(copy, counter) + journal.counts(db).map { Count(table: $0.table, rows: $0.rows) }
    }

    private func compared(_ copy: UserCopy, _ counter: Counter) throws -> [Count] {
        counter.restart()
        return try tables.map { table in
            counter.begin("check", table)
            return Count(table: table.name, rows: try table.compare(copy))
        }
    }

    private static func sessions(of apps: [String]) -> UserTable {
        UserTable(
            "session",
            key: ["token_hash"],
            [
                "token_hash": .bytes, "app": .text, "kind": .text, "account": .text, "name": .text,
                "created_at": .integer, "used_at": .integer,
            ],
            condition: "app IN (\(apps.map { "'\($0)'" }.joined(separator: ", ")))"
        )
    }

    /// The files that stay in a directory.
    private final class Kept: Sendable {
        let counts = Mutex<[Count]?>(nil)
    }

    /// Counts rows.
    private final class Counter {
        private let total: Int
        private let progress: Progress
        private var completed = 0
        private var step = ""

        init(_ total: Int, _ progress: @escaping Progress) {
            self.total = total
            self.progress = progress
        }

        func begin(_ step: String, _ table: UserTable) {
            self.step = "\(step) \(table.name)"
            progress(self.step, completed, total)
        }

        func restart() { completed = 0 }

        func advance() {
            completed += 1
            if completed % 64 == 0 { progress(step, completed, total) }
        }
    }
}

extension App {
    /// Whether its users' data is in a store that several servers share.
    static var hasUserTables: Bool { !userTables.isEmpty || replicated != nil }
}
