package import Database
import Foundation
package import GRDB
package import SharedStore

/// Copies the rows of a file to an empty journal, as its first change, or all changes of a journal to a file that does
/// not follow it.
package struct JournalCopy: Sendable {
    /// The first change does not make the rows that it was made of.
    package struct Difference: Error, CustomStringConvertible {
        let table: String

        /// One sentence for operators.
        package var description: String { "The table \(table) is not the same in both stores." }
    }

    private struct RolledBack: Error {}

    /// No server runs, so a first change may be larger than others.
    private static let mostBytes = 512 << 20
    /// The first change is of all scopes: whatever follows it was written by servers that have applied it.
    private static let scope = "copy"

    private let tables: JournalTables
    private let store: JournalStore

    /// - Parameters:
    ///   - tables: those of all apps.
    ///   - schema: the version of the schema of this build.
    package init(_ tables: JournalTables, schema: Int, in database: SharedDatabase) {
        self.tables = tables
        store = JournalStore(database: database, server: Self.scope, schema: schema)
    }

    /// Returns a table of the file with rows of users; nil if there is none.
    package func firstWithRows(_ db: Database) throws -> String? { try tables.firstWithRows(db) }

    /// Returns how many rows the tables of the file have.
    package func counts(_ db: Database) throws -> [(table: String, rows: Int)] {
        try tables.inOrder.map { table in
            (table, try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.quotedDatabaseIdentifier)") ?? 0)
        }
    }

    /// Whether the journal has no row.
    package static func isEmpty(_ transaction: SQLTransaction) throws -> Bool {
        try transaction.rows("SELECT 1 AS found FROM journal LIMIT 1").first == nil
    }

    /// Returns the change that makes the rows of a file from those of a new one. The file stays as it is.
    ///
    /// - Throws: ``Difference``, ``JournalError``, `StorageError`.
    package func firstChange(of database: LarderDatabase) throws -> Changeset {
        var outcome: Result<Changeset, any Error>?
        do {
            try database.write { (db) -> Void in
                outcome = Result { try firstChange(db) }
                throw RolledBack()
            }
        } catch is RolledBack {}
        guard let outcome else { throw CancellationError() }
        return try outcome.mapError(database.translating).get()
    }

    private func firstChange(_ db: Database) throws -> Changeset {
        let names = tables.inOrder.map {
            (table: $0.quotedDatabaseIdentifier, copy: "temp." + "copy_of_\($0)".quotedDatabaseIdentifier)
        }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        for (table, copy) in names { try db.execute(sql: "CREATE TABLE \(copy) AS SELECT * FROM \(table)") }
        for (table, _) in names.reversed() { try db.execute(sql: "DELETE FROM \(table)") }
        for statement in tables.firstRows { try db.execute(sql: statement) }
        let changeset = try Changeset.capture(tables, in: db, mostBytes: Self.mostBytes) { db in
            for (table, copy) in names { try db.execute(sql: "INSERT OR REPLACE INTO \(table) SELECT * FROM \(copy)") }
        }.changeset
        try changeset.apply(tables, in: db)
        for (table, copy) in names {
            let differing = """
                SELECT 1 FROM (SELECT * FROM \(table) EXCEPT SELECT * FROM \(copy))
                UNION ALL SELECT 1 FROM (SELECT * FROM \(copy) EXCEPT SELECT * FROM \(table)) LIMIT 1
                """
            guard try Int.fetchOne(db, sql: differing) == nil else { throw Difference(table: table) }
        }
        return changeset
    }

    /// Inserts the first change.
    ///
    /// - Throws: `SharedStoreError`.
    package func insert(_ changeset: Changeset, in transaction: SQLTransaction) throws {
        guard !changeset.isEmpty else { return }
        _ = try store.insert(changeset, scope: Self.scope, write: UUID(), in: transaction)
    }

    /// Applies all changes to a file, which does not follow the journal afterwards.
    ///
    /// - Throws: ``JournalError``, `SharedStoreError`, GRDB's errors.
    package func apply(_ transaction: SQLTransaction, to db: Database) throws {
        var position = JournalPosition()
        var isComplete = false
        while !isComplete {
            let page = try store.page(after: position, in: transaction)
            for row in page.rows {
                do {
                    guard row.schema <= store.schema else { throw JournalStop.Reason.newerSchema(row.schema) }
                    try Changeset(encoded: row.changeset).apply(tables, in: db)
                } catch let reason as JournalStop.Reason {
                    throw JournalError.stopped(JournalStop(number: row.link.number, scope: row.scope, reason: reason))
                } catch let damage as Changeset.Damage {
                    let reason = JournalStop.Reason.damaged(damage)
                    throw JournalError.stopped(JournalStop(number: row.link.number, scope: row.scope, reason: reason))
                }
            }
            position.advance(from: position, through: page.rows.last?.link.number, in: page.snapshot, isComplete: false)
            isComplete = page.isComplete
        }
    }
}
