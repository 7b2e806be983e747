public import Database
import GRDB
import Logging

/// Replaces damaged tables of the cache by empty ones. Everything in them can be fetched again.
public struct CacheReset: Sendable {
    /// The tables whose content can be fetched again.
    static let tables = ["stored_response", "stored_body", "stored_response_total", "page", "page_row", "page_total"]

    private let database: LarderDatabase

    /// Creates a reset of a database.
    public init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Replaces the tables of the cache if one of them is damaged, and reports damage of other tables, which stay as
    /// they are.
    ///
    /// - Parameter damaged: What is wrong, by name of the table.
    /// - Throws: ``StorageError``, `CancellationError`, if the tables could not be replaced.
    public func run(damaged: [String: String]) async throws {
        let others = damaged.filter { !Self.tables.contains($0.key) }
        database.report(damaged: others)
        guard damaged.count > others.count else { return }
        database.logger.error(
            "pages of the cache are damaged: its tables are replaced by empty ones",
            metadata: ["tables": "\(damaged.filter { Self.tables.contains($0.key) })"]
        )
        let blobs = readableBlobs()
        do {
            try await database.pool.writeWithoutTransaction(Self.replaceTables)
        } catch {
            database.report(damaged: damaged)
            throw database.translating(error)
        }
        database.notifyReset()
        try await database.write { db in
            for id in blobs { try db.cachedStatement(sql: "DELETE FROM blob WHERE id = ?").execute(arguments: [id]) }
        }
        await compact()
    }

    /// Returns the blobs of cached responses, as far as they can be read. Blobs that cannot be found like this keep
    /// their files.
    private func readableBlobs() -> [BlobID] {
        for index in ["stored_response_by_blob", nil] {
            let hint = index.map { "INDEXED BY \($0)" } ?? "NOT INDEXED"
            let sql = "SELECT blob_id FROM stored_response \(hint) WHERE blob_id IS NOT NULL"
            if let blobs = try? database.read({ try BlobID.fetchAll($0, sql: sql) }) { return blobs }
        }
        database.logger.warning("files of cached responses stay, because the damaged table does not name them")
        return []
    }

    /// Removes the tables from the schema without touching their pages, which may not be readable, and creates them
    /// again.
    private static func replaceTables(_ db: Database) throws {
        try db.execute(sql: "PRAGMA writable_schema = ON")
        defer {
            // `RESET` below switches it off; this is for a failure before.
            try? db.execute(sql: "PRAGMA writable_schema = OFF")
        }
        try db.inTransaction {
            let names = tables.map(\.databaseValue)
            let places = names.map { _ in "?" }.joined(separator: ", ")
            try db.execute(
                sql: "DELETE FROM sqlite_schema WHERE tbl_name IN (\(places))",
                arguments: StatementArguments(names)
            )
            try db.execute(sql: "PRAGMA writable_schema = RESET")
            db.clearSchemaCache()
            for migration in CacheTables.migrations { try migration.migrate(db) }
            return .commit
        }
    }

    /// Writes the file anew without the pages of the damaged tables. If that fails, for instance for lack of space,
    /// they only take space.
    private func compact() async {
        do {
            try await database.pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        } catch {
            database.logger.warning("the damaged pages stay in the file", metadata: ["error": "\(error)"])
        }
    }
}
