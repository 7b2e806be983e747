package import GRDB

/// Checks of a database's content, without changing it.
package enum IntegrityCheck {
    /// The most findings of one check that an error names.
    private static let limit = 3

    /// Checks the pages of the whole file (`PRAGMA quick_check`); takes as long as reading it.
    ///
    /// - Throws: ``StorageError/damagedDatabase(path:detail:)``.
    package static func pages(_ db: Database, path: String) throws {
        let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(\(limit))")
        guard findings == ["ok"] else {
            throw StorageError.damagedDatabase(path: path, detail: findings.joined(separator: "; "))
        }
    }

    /// Checks the pages of one table and of its indexes.
    ///
    /// - Parameter table: The table; nil for all tables and the pages that belong to none.
    /// - Returns: What is wrong; nil if nothing is.
    /// - Throws: Errors of the database other than damaged pages.
    package static func damage(of table: String?, _ db: Database) throws -> String? {
        do {
            let scope = table?.quotedDatabaseIdentifier ?? "\(limit)"
            let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(\(scope))")
            return findings == ["ok"] ? nil : findings.prefix(limit).joined(separator: "; ")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return error.message ?? "malformed"
        }
    }

    /// Adds the names of the damaged tables to an error, of those that every start reads.
    static func naming(_ error: any Error, path: String) -> any Error {
        guard case .damagedDatabase(_, let detail) = error as? StorageError,
            let connection = try? DirectoryCheck.openForReading(path)
        else { return error }
        let damaged = readAtStart.compactMap { table -> String? in
            // The tables of a damaged schema cannot be listed.
            guard let found = try? connection.unsafeRead({ try damage(of: table, $0) }) else { return nil }
            return "\(table): \(found)"
        }
        try? connection.close()
        return damaged.isEmpty
            ? error : StorageError.damagedDatabase(path: path, detail: ([detail] + damaged).joined(separator: "; "))
    }

    private static let readAtStart = [
        "grdb_migrations", "data_directory", "sealing_key", "sealed_secret", "blob", "removed_blob",
    ]

    /// Checks pages and references: rows that refer to none were lost, or written with foreign keys switched off.
    ///
    /// - Throws: ``StorageError/damagedDatabase(path:detail:)``.
    static func all(_ db: Database, path: String) throws {
        try pages(db, path: path)
        let tables = try Row.fetchAll(
            db,
            sql: "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2"
        )
        guard tables.isEmpty else {
            let findings = tables.map {
                "\($0[2] as Int) rows of \($0[0] as String) refer to missing rows of \($0[1] as String)"
            }
            throw StorageError.damagedDatabase(path: path, detail: findings.joined(separator: "; "))
        }
    }
}
