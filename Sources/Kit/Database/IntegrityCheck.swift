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
    /// - Returns: What is wrong; nil if nothing is.
    /// - Throws: Errors of the database other than damaged pages.
    package static func damage(of table: String, _ db: Database) throws -> String? {
        do {
            let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(\(table.quotedDatabaseIdentifier))")
            return findings == ["ok"] ? nil : findings.prefix(limit).joined(separator: "; ")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return error.message ?? "malformed"
        }
    }

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
