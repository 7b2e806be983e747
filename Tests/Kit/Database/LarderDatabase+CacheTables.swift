package import GRDB
package import Logging
package import Storage

extension LarderDatabase {
    /// Opens a database that has the tables of cached responses, as the server's has.
    ///
    /// - Parameters:
    ///   - directory: The locked folder.
    ///   - migrations: Those of the apps under test; the cache's own come first.
    ///   - options: How to open.
    ///   - logger: Receives the database's log messages.
    package static func withCacheTables(
        in directory: DataDirectory,
        migrations: [SchemaMigration] = [],
        options: DatabaseOptions = .init(),
        logger: Logger
    ) throws -> LarderDatabase {
        try LarderDatabase(
            in: directory,
            migrations: CacheTables.migrations + migrations,
            options: options,
            logger: logger
        )
    }

    /// Reads the first value of a query.
    package func integer(_ sql: String) throws -> Int? { try read { try Int.fetchOne($0, sql: sql) } }

    /// Opens a database in a temporary folder that is removed with it.
    package static func temporary(
        migrations: [SchemaMigration] = [],
        logger: Logger = Logger(label: "test")
    ) throws -> LarderDatabase {
        try withCacheTables(in: .temporary(), migrations: migrations, logger: logger)
    }
}

extension Database {
    /// Returns the rows and terms of a search index, as texts.
    package func searchEntries(of index: String) throws -> [String] {
        try execute(sql: "CREATE VIRTUAL TABLE temp.entry USING fts5vocab ('main', '\(index)', 'instance')")
        let entries = try String.fetchAll(self, sql: "SELECT doc || ' ' || term FROM temp.entry")
        try execute(sql: "DROP TABLE temp.entry")
        return entries
    }

    /// Returns how many rows of each owner have a word; nil if there is no such table.
    package func storedWords(in table: String) throws -> [String: Int]? {
        guard try tableExists(table) else { return nil }
        let rows = try Row.fetchAll(self, sql: "SELECT owner || ' ' || word, rows FROM \(table)")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as String, $0[1] as Int) })
    }

    /// Returns the table of each page but the first; nil for a page that is free or describes others.
    package func pageOwners() throws -> [(page: Int, table: String?)] {
        let rows = try Row.fetchAll(
            self,
            sql: """
                SELECT pageno, coalesce(object.tbl_name, dbstat.name) FROM dbstat
                LEFT JOIN sqlite_schema AS object ON object.name = dbstat.name
                """
        )
        let tables = Dictionary(rows.map { ($0[0] as Int, $0[1] as String) }) { first, _ in first }
        let count = try Int.fetchOne(self, sql: "PRAGMA page_count") ?? 0
        return (2...count).map { ($0, tables[$0]) }
    }
}

/// How SQLite carries out a statement (`EXPLAIN QUERY PLAN`).
package struct QueryPlan: Sendable, CustomStringConvertible {
    /// The details of its steps, in order.
    package let steps: [String]

    /// Plans a statement; parameters without a value are null.
    package init(_ sql: String, _ arguments: StatementArguments = StatementArguments(), in database: LarderDatabase)
        throws
    {
        steps = try database.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
            statement.setUncheckedArguments(arguments)
            return try Row.fetchAll(statement).map { $0["detail"] }
        }
    }

    /// Whether it walks a whole table or index.
    package var scans: Bool { steps.contains { $0.contains("SCAN") } }
    /// Whether it sorts rows because no index has their order.
    package var sorts: Bool { steps.contains { $0.contains("TEMP B-TREE") } }

    /// Its steps, for people.
    package var description: String { steps.joined(separator: "; ") }
}
