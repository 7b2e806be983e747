import Foundation
package import GRDB
import Logging
import Synchronization

/// Checks of a database's content, without changing it.
package enum IntegrityCheck {
    /// The name under which damage of the list of free pages is reported.
    package static let freePages = "free pages"
    /// The name under which other damage is reported that belongs to no table.
    static let otherPages = "pages of no table"

    /// The most findings of one check that an error names.
    private static let limit = 3

    /// Checks the pages of the whole file (`PRAGMA quick_check`); takes as long as reading it.
    ///
    /// - Throws: ``StorageError/damagedDatabase(path:detail:)``.
    package static func pages(_ db: Database, path: String) throws {
        if let damage = try damage(of: nil, by: "quick_check", db) {
            throw StorageError.damagedDatabase(path: path, detail: damage)
        }
    }

    /// Checks the pages of one table and of its indexes, and that each row is in all of them.
    ///
    /// - Returns: SQLite's findings; nil if there are none.
    /// - Throws: Errors of the database other than damaged pages.
    package static func damage(of table: String, _ db: Database) throws -> String? {
        try damage(of: table, by: "integrity_check", db)
    }

    /// Checks the pages of all tables and those that belong to none.
    ///
    /// - Parameters:
    ///   - thoroughly: Whether each table and each search index is looked through, even if the pages seem whole.
    ///   - db: A connection of its own. Within a transaction, SQLite reports an error at a page once more when it is
    ///     committed.
    /// - Returns: The findings by name of the damaged table; ``freePages`` or ``otherPages`` if all tables are whole.
    /// - Throws: Errors of the database other than damaged pages.
    static func damagedTables(thoroughly: Bool, _ db: Database) throws -> [String: String] {
        let all = try damage(of: nil, by: "quick_check", db)
        guard thoroughly || all != nil else { return [:] }
        var damaged: [String: String] = [:]
        for table in try String.fetchAll(db, sql: selectTables) { damaged[table] = try damage(of: table, db) }
        for row in try Row.fetchAll(db, sql: selectIndexes) {
            let name: String = try row.value(0)
            damaged[name] = try damage(ofIndex: name, isTree: row.value(1), db)
        }
        guard let all, damaged.isEmpty else { return damaged }
        return [all.lowercased().contains("freelist") ? freePages : otherPages: all]
    }

    private static func damage(of table: String?, by check: String, _ db: Database) throws -> String? {
        try catchingDamage {
            let scope = table?.quotedDatabaseIdentifier ?? "\(limit)"
            let findings = try String.fetchAll(db, sql: "PRAGMA \(check)(\(scope))")
            return findings == ["ok"] ? nil : findings.prefix(limit).joined(separator: "; ")
        }
    }

    /// Reads a search index, or an R-tree, to its end: a check of pages cannot tell whether its parts fit together.
    private static func damage(ofIndex name: String, isTree: Bool, _ db: Database) throws -> String? {
        try catchingDamage {
            if isTree {
                let finding = try String.fetchOne(db, sql: "SELECT rtreecheck('main', ?)", arguments: [name]) ?? ""
                return finding == "ok" ? nil : String(finding.prefix(200)).replacing("\n", with: "; ")
            }
            let columns = "main, \(name.quotedDatabaseIdentifier), row"
            // A connection cannot release a damaged index, so each has a name of its own, which ends with the
            // connection.
            let terms = "temp." + "terms of \(name)".quotedDatabaseIdentifier
            try db.execute(sql: "CREATE VIRTUAL TABLE IF NOT EXISTS \(terms) USING fts5vocab(\(columns))")
            defer { try? db.execute(sql: "DROP TABLE \(terms)") }
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(terms)")
            // Terms are read page by page; searches and merges find a page by its entry (SQLite's fts5_index.c).
            let (entries, pages) = ("\(name)_idx".quotedDatabaseIdentifier, "\(name)_data".quotedDatabaseIdentifier)
            let lost = """
                SELECT count(*) FROM \(entries) AS entry
                WHERE NOT EXISTS (SELECT 1 FROM \(pages) WHERE id = (entry.segid << 37) + (entry.pgno >> 1))
                """
            let count = try Int.fetchOne(db, sql: lost) ?? 0
            return count == 0 ? nil : "\(count) entries of pages that are not there"
        }
    }

    private static func catchingDamage(_ check: () throws -> String?) throws -> String? {
        do {
            return try check()
        } catch let error as DatabaseError where error.isDamage {
            return error.message ?? "malformed"
        } catch is RowDecodingError {
            return "malformed"
        }
    }

    /// Adds the names of the damaged tables to an error of damage; returns other errors unchanged.
    package static func naming(_ error: any Error) -> any Error {
        guard case .damagedDatabase(let path, let detail) = error as? StorageError,
            let connection = try? DirectoryCheck.openForReading(path)
        else { return error }
        // The tables of a damaged schema cannot be listed.
        let damaged = (try? connection.unsafeRead { try damagedTables(thoroughly: true, $0) }) ?? [:]
        try? connection.close()
        let details = text(of: damaged).filter { !detail.contains($0) }
        return StorageError.damagedDatabase(path: path, detail: ([detail] + details).joined(separator: "; "))
    }

    /// Returns the findings of tables, each with the name of its table.
    static func text(of damaged: [String: String]) -> [String] {
        damaged.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    }

    /// Checks pages, search indexes and references: rows that refer to none were lost, or written with foreign keys
    /// switched off.
    ///
    /// - Throws: ``StorageError/damagedDatabase(path:detail:)``.
    static func all(_ db: Database, path: String) throws {
        let damaged = try damagedTables(thoroughly: true, db)
        guard damaged.isEmpty else {
            throw StorageError.damagedDatabase(path: path, detail: text(of: damaged).joined(separator: "; "))
        }
        let tables = try Row.fetchAll(
            db,
            sql: "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2"
        )
        guard tables.isEmpty else {
            let findings = try tables.map {
                let (table, parent, rows): (String, String, Int) = try ($0.value(0), $0.value(1), $0.value(2))
                return "\(rows) rows of \(table) refer to missing rows of \(parent)"
            }
            throw StorageError.damagedDatabase(path: path, detail: findings.joined(separator: "; "))
        }
    }

    private static let selectTables = """
        SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0
            AND (name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name = 'sqlite_sequence')
        ORDER BY name
        """
    private static let selectIndexes = """
        SELECT name, sql LIKE '% USING rtree%' FROM sqlite_schema
        WHERE sql LIKE 'CREATE VIRTUAL TABLE %' AND sql NOT LIKE '% USING fts5vocab%'
            AND (sql LIKE '% USING fts5%' OR sql LIKE '% USING rtree%')
        ORDER BY name
        """
}

/// A table, and how the app that has it reads its rows: a changed byte within a value is one that SQLite accepts and
/// the app may not.
package struct RecordTable: Sendable {
    private let name: String
    private let read: @Sendable (Row) throws -> Void

    /// - Parameter read: Reads a row with all columns of the table.
    package init(_ name: String, _ read: @escaping @Sendable (Row) throws -> Void) {
        self.name = name
        self.read = read
    }

    /// A table whose rows are records.
    package init<Record: FetchableRecord & SendableMetatype>(_ name: String, of _: Record.Type) {
        self.init(name) { _ = try Record(row: $0) }
    }

    /// Reads all rows of the table.
    ///
    /// - Throws: ``StorageError/damagedDatabase(path:detail:)`` with the name of the table; errors of the database.
    package func check(_ db: Database, path: String) throws {
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM \(name.quotedDatabaseIdentifier)")
        do {
            while let row = try rows.next() { try read(row) }
        } catch let error as DatabaseError where error.isDamage {
            throw StorageError.damagedDatabase(path: path, detail: "\(name): \(error.message ?? "malformed")")
        }
    }
}

extension LarderDatabase {
    /// Checks all pages on a connection of its own: neither reads nor writes wait for it. Takes as long as reading the
    /// file, and if something is wrong, twice as long: then each table and its indexes are checked by themselves.
    ///
    /// - Parameter thoroughly: Whether they are checked by themselves even if the pages seem whole.
    /// - Returns: The findings by name of the damaged table.
    package func damagedTables(thoroughly: Bool = false) async throws -> [String: String] {
        var configuration = Configuration()
        configuration.label = "larder.check"
        configuration.readonly = true
        configuration.qos = .background
        configuration.busyMode = .timeout(options.busyTimeout)
        do {
            let connection = try DatabaseQueue(path: directory.databasePath, configuration: configuration)
            defer { try? connection.close() }
            // Without a transaction.
            return try await connection.unsafeRead { try IntegrityCheck.damagedTables(thoroughly: thoroughly, $0) }
        } catch {
            throw translating(error)
        }
    }

    /// Returns whether a read or a write has met a damaged page; true once for each process, so that its cause is
    /// looked for once.
    package func takeSuspicion() -> Bool {
        suspicion.compareExchange(expected: 1, desired: 2, ordering: .relaxed).exchanged
    }

    /// Makes ``checkReadiness()`` report damage that could not be removed, and logs it.
    ///
    /// - Parameter tables: The findings by name of the table.
    package func report(damaged tables: [String: String]) {
        guard !tables.isEmpty else { return }
        let detail = IntegrityCheck.text(of: tables).joined(separator: "; ")
        let error = StorageError.damagedDatabase(path: directory.databasePath, detail: detail)
        damage.withLock { $0 = error }
        logger.error(
            "pages of the database are damaged: stop the server, run larder doctor, restore a backup",
            metadata: ["error": "\(error)"]
        )
    }

    /// Returns free pages of the file to the file system, in transactions of 1 MiB, so that other writers have their
    /// turn between them.
    ///
    /// - Parameters:
    ///   - leaving: The part of the file that may stay free, to be used again; and at least 8 MiB.
    ///   - progress: Receives how much was returned.
    /// - Throws: ``StorageError`` other than a full disk, `CancellationError`. The pages returned until then stay
    ///   returned.
    package func shrink(leaving part: Double = 0.25, progress: @escaping ProgressReceiver = { _ in }) async throws {
        do {
            let free = try read { try Self.value("freelist_count", $0) * Self.value("page_size", $0) }
            var counter = ProgressCounter(.shrinking, total: free, progress)
            while try await pool.writeWithoutTransaction({ try Self.shrinkStep($0, leaving: part) }) {
                counter.add(Self.pagesPerStep * Self.usualPageSize)
            }
        } catch {
            let cause = translating(SpaceProbe(in: directory.path).explaining(error, path: directory.databasePath))
            guard case .diskFull = cause as? StorageError else { throw cause }
            // There is no space to move pages. The free ones can be used by new rows.
            logger.warning("free pages stay in the file: the disk is too full to move others")
        }
    }

    /// Returns a part of the free pages, and whether there are more.
    private static func shrinkStep(_ db: Database, leaving part: Double) throws -> Bool {
        let free = try value("freelist_count", db)
        let (all, size) = (try value("page_count", db), try value("page_size", db))
        let least = part > 0 ? shrinkingThreshold : 0
        guard free > 0, free * size >= least, Double(free) > Double(all) * part else { return false }
        try db.execute(sql: "PRAGMA incremental_vacuum(\(pagesPerStep))")
        // Without automatic vacuum, as in a database of another tool, nothing would ever change.
        return try value("freelist_count", db) < free
    }

    private static func value(_ pragma: String, _ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }

    private static let shrinkingThreshold = 8 << 20
    private static let pagesPerStep = 256
    /// Size of a page of databases that SQLite creates, in bytes.
    private static let usualPageSize = 4096
}
