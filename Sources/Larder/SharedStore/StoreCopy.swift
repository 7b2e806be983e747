import AppInterface
import Database
import GRDB
import Screens
import SharedStore

/// Copies what users made from a server's own database to a shared store, or back: all of it or nothing, compared row by
/// row before it is kept. No server may use either. What is cached is not copied.
struct StoreCopy: Sendable {
    /// Why nothing was copied; the text is for the operator.
    enum Refusal: Error, CustomStringConvertible {
        /// Servers use the shared store.
        case inUse(connections: Int)
        /// The target has rows.
        case notEmpty(table: String)

        var description: String {
            switch self {
            case .inUse(let connections): "servers use the store (\(connections) connections); stop them first"
            case .notEmpty(let table): "the target is not empty: it has rows in \(table)"
            }
        }
    }

    /// The direction.
    enum Direction: Sendable { case toShared, toLocal }

    /// The time that a copy may take.
    private static let timeout = Duration.seconds(86_400)

    let tables: [UserTable]
    let local: LarderDatabase
    let shared: SharedDatabase

    /// - Parameter apps: All; those without tables of both are left out.
    init(_ apps: AppList, local: LarderDatabase, shared: SharedDatabase) {
        tables = [Self.sessions] + apps.types.flatMap { $0.userTables }
        self.local = local
        self.shared = shared
    }

    /// Copies.
    ///
    /// - Returns: The numbers of rows by table.
    /// - Throws: ``Refusal``, `UserTable.Difference`, `StorageError`, `SharedStoreError`.
    func run(_ direction: Direction) async throws -> [(table: String, rows: Int)] {
        let cookies = try SessionCookies(SealedSecrets(local))
        // A server that starts meanwhile waits for its turn, with all that it does after making tables.
        try await shared.write(turns: [SharedDatabase.schemaTurn], within: Self.timeout) { transaction in
            let servers = try SharedDatabase.servers(in: transaction)
            guard servers == 0 else { throw Refusal.inUse(connections: servers) }
            switch direction {
            case .toShared:
                try cookies.adopt(in: transaction)
                return try local.read { try copy(from: $0, to: transaction) }
            case .toLocal: return try local.write { try copy(from: transaction, to: $0) }
            }
        }
    }

    private func copy(from db: Database, to transaction: SQLTransaction) throws -> [(table: String, rows: Int)] {
        for table in tables where table.beginsEmpty {
            guard try table.count(in: transaction) == 0 else { throw Refusal.notEmpty(table: table.title) }
        }
        for table in tables { try table.copy(from: db, to: transaction) }
        for table in tables { try table.complete(transaction) }
        return try compared(db, transaction)
    }

    private func copy(from transaction: SQLTransaction, to db: Database) throws -> [(table: String, rows: Int)] {
        for table in tables where table.beginsEmpty {
            guard try table.count(in: db) == 0 else { throw Refusal.notEmpty(table: table.title) }
        }
        for table in tables { try table.copy(from: transaction, to: db) }
        return try compared(db, transaction)
    }

    private func compared(_ db: Database, _ transaction: SQLTransaction) throws -> [(table: String, rows: Int)] {
        try tables.map { table in
            try table.compare(db, transaction)
            return (table.title, try table.count(in: db))
        }
    }

    /// The sessions of all apps.
    private static let sessions = UserTable(
        "session",
        key: ["token_hash"],
        [
            "token_hash": .bytes, "app": .text, "kind": .text, "account": .text, "name": .text,
            "created_at": .integer, "used_at": .integer,
        ]
    )
}
