package import GRDB
package import Storage

/// Copies the rows of a file to an empty journal, or those of a journal to a file that does not follow it afterwards.
package struct JournalCopy: Sendable {
    /// Returns the values of a row of a table as the journal has them, such as secrets under another key.
    package typealias Values = (_ table: String, _ row: Row) throws -> [DatabaseValue]

    private let tables: JournalTables
    private let store: JournalStore
    private let file: JournalFile

    /// - Parameters:
    ///   - tables: those of all apps.
    ///   - schema: the version of the schema of this build.
    package init(_ tables: JournalTables, schema: Int, of database: LarderDatabase, in shared: SharedDatabase) {
        self.tables = tables
        store = JournalStore(database: shared, server: "copy", schema: schema)
        // A copy that lacks something is none.
        file = JournalFile(database: database, tables: tables, schema: schema, leavesOutNewer: false)
    }

    /// Returns a table of the file with rows of users; nil if there is none.
    package func firstWithRows(_ db: Database) throws -> String? { try tables.firstWithRows(db) }

    /// Returns how many rows the tables of the file have.
    package func counts(_ db: Database) throws -> [(table: String, rows: Int)] {
        try tables.names.map { table in
            (table, try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.quotedDatabaseIdentifier)") ?? 0)
        }
    }

    /// Whether the journal has no row and no snapshot.
    package static func isEmpty(_ transaction: SQLTransaction) throws -> Bool {
        let sql = "SELECT 1 AS found FROM journal UNION ALL SELECT 1 FROM journal_snapshot LIMIT 1"
        return try transaction.rows(sql).first == nil
    }

    /// Copies the rows of the file to an empty journal, as its snapshot, and the files that they name.
    ///
    /// - Throws: `SharedStoreError`, `StorageError`, GRDB's errors, errors of `values`.
    package func copy(
        _ db: Database,
        to transaction: SQLTransaction,
        values: Values = { Array($1.databaseValues) }
    ) throws {
        guard try tables.firstWithRows(db) != nil else { return }
        if try JournalFile.leavingOut(db) != nil { throw JournalError.incomplete }
        try store.begin(in: transaction) {
            try JournalSnapshot(tables).write(db, hasPosition: false, values: values, $0)
        }
        let blobs = file.database.blobs
        for id in try tables.named(db) {
            let select = try db.cachedStatement(sql: "SELECT length FROM blob WHERE id = ?")
            guard let length = try Int.fetchOne(select, arguments: [id]) else { throw StorageError.blobUnavailable(id) }
            let reader = try blobs.reader(Blob(id: id, length: length))
            try SharedContents.insert(reader.blob, in: transaction) { try reader.read($0) }
        }
    }

    /// Copies the rows of the journal to the file, and the files that they name.
    ///
    /// - Returns: the name of the journal.
    /// - Throws: ``JournalError``, `SharedStoreError`, `StorageError`, GRDB's errors.
    @discardableResult
    package func copy(_ transaction: SQLTransaction, to db: Database) throws -> String {
        if let stop = try file.readToEnd(of: store, in: transaction, to: db) { throw JournalError.stopped(stop) }
        for id in try tables.named(db) {
            let writer = try file.database.blobs.writer(id)
            try SharedContents.read(id, in: transaction) { try writer.append($0) }
            try file.database.blobs.insert(try writer.finish(), in: db)
        }
        let identity = try JournalFile.followed(db)?.identity
        try JournalFile.leave(db)
        return identity ?? ""
    }
}
