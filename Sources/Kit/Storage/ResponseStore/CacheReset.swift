import GRDB
import Logging

/// Removes damaged pages that have nothing which cannot be fetched again: replaces damaged tables of the cache by empty
/// ones, and the list of free pages by a new one.
package struct CacheReset: Sendable {
    /// The tables whose content can be fetched again.
    static let tables = [
        "stored_response", "stored_body", "stored_part", "stored_response_total", "page", "page_row", "page_total",
    ]

    private let database: LarderDatabase

    package init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Replaces the tables of the cache if one of them is damaged. Reports damage of other tables, which are not
    /// changed.
    ///
    /// - Parameter damaged: The damage, by name of the table.
    /// - Throws: `StorageError`, `CancellationError`, if the tables could not be replaced.
    package func run(damaged: [String: String]) async throws {
        if let detail = damaged[IntegrityCheck.freePages] { return try await writeAnew(detail) }
        let others = damaged.filter { !Self.tables.contains($0.key) }
        database.report(damaged: others)
        guard damaged.count > others.count else { return }
        database.logger.error(
            "pages of the cache are damaged: its tables are replaced by empty ones",
            metadata: ["tables": "\(damaged.filter { Self.tables.contains($0.key) })"]
        )
        let blobs = readableBlobs()
        do {
            try await database.pool.writeWithoutTransaction { db in
                do {
                    try Self.replaceTables(db)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                    try Self.replaceTablesInNewFile(db)
                }
            }
        } catch {
            database.report(damaged: damaged)
            throw database.translating(error)
        }
        database.logger.notice("the damaged tables of the cache were replaced")
        database.notifyReset()
        try await database.write { db in
            for id in blobs { try db.cachedStatement(sql: "DELETE FROM blob WHERE id = ?").execute(arguments: [id]) }
        }
        await compact()
    }

    /// Rewrites the file if only pages are damaged that belong to no table, such as the list of free pages: without it
    /// no row can be added.
    private func writeAnew(_ detail: String) async throws {
        database.logger.error(
            "free pages of the database are damaged: the file is written anew without them",
            metadata: ["error": "\(detail)"]
        )
        do {
            try await database.pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        } catch {
            database.report(damaged: [IntegrityCheck.freePages: detail])
            throw database.translating(error)
        }
    }

    /// Returns the blobs of cached responses, as far as they can be read. Blobs that cannot be found like this keep
    /// their files.
    private func readableBlobs() -> [BlobID] {
        ["stored_response", "stored_part"].flatMap(readableBlobs)
    }

    private func readableBlobs(of table: String) -> [BlobID] {
        for index in ["\(table)_by_blob", nil] {
            let hint = index.map { "INDEXED BY \($0)" } ?? "NOT INDEXED"
            let sql = "SELECT blob_id FROM \(table) \(hint) WHERE blob_id IS NOT NULL"
            if let blobs = try? database.read({ try BlobID.fetchAll($0, sql: sql) }) { return blobs }
        }
        database.logger.warning("files of cached responses stay, because the damaged table does not name them")
        return []
    }

    /// Removes the tables from the schema without touching their pages, which may not be readable, and creates them
    /// again.
    private static func replaceTables(_ db: Database) throws {
        try changeSchema(db) {
            try removeFromSchema(db)
            for migration in CacheTables.migrations { try migration.migrate(db) }
        }
    }

    /// Does the same in three steps, and rewrites the file before the tables are created. With automatic vacuum the
    /// root of a new table displaces another page. If a damaged page refers to that one, SQLite refuses.
    ///
    /// Reads fail while the file is written. If the process ends meanwhile, the next start creates the tables, since
    /// their migrations are not recorded.
    private static func replaceTablesInNewFile(_ db: Database) throws {
        let list = places(tables.count)
        let entries = try Row.fetchAll(
            db,
            sql: "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE tbl_name IN (\(list))",
            arguments: StatementArguments(tables)
        )
        let names = CacheTables.migrations.map(\.name)
        func record() throws {
            for name in names {
                try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)", arguments: [name])
            }
        }
        try changeSchema(db) {
            try db.execute(
                sql: "DELETE FROM grdb_migrations WHERE identifier IN (\(places(names.count)))",
                arguments: StatementArguments(names)
            )
            try removeFromSchema(db)
        }
        do {
            try db.execute(sql: "VACUUM")
        } catch {
            // The old schema is restored: the readable parts of the tables are served.
            try changeSchema(db) {
                for entry in entries {
                    try db.execute(
                        sql: "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)",
                        arguments: StatementArguments(entry.databaseValues)
                    )
                }
                try record()
                try db.execute(sql: "PRAGMA writable_schema = RESET")
            }
            throw error
        }
        try db.inTransaction {
            for migration in CacheTables.migrations { try migration.migrate(db) }
            try record()
            return .commit
        }
    }

    private static func removeFromSchema(_ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM sqlite_schema WHERE tbl_name IN (\(places(tables.count)))",
            arguments: StatementArguments(tables)
        )
        try db.execute(sql: "PRAGMA writable_schema = RESET")
        db.clearSchemaCache()
    }

    /// Runs a transaction that may write to `sqlite_schema`.
    private static func changeSchema(_ db: Database, _ changes: () throws -> Void) throws {
        try db.execute(sql: "PRAGMA writable_schema = ON")
        defer {
            // `RESET` switches it off; this is for a failure before.
            try? db.execute(sql: "PRAGMA writable_schema = OFF")
            db.clearSchemaCache()
        }
        try db.inTransaction {
            try changes()
            return .commit
        }
    }

    private static func places(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }

    /// Rewrites the file without the pages of the damaged tables. If that fails, for instance for lack of space, these
    /// pages only take up space.
    private func compact() async {
        do {
            try await database.pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        } catch {
            database.logger.warning("the damaged pages stay in the file", metadata: ["error": "\(error)"])
        }
    }
}
