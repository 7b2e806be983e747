import Foundation
package import GRDB
import Logging
package import Storage

/// The rows of a server's file at a position of the journal, as changesets of insertions.
///
/// A new server begins with it, and so does one that was away for longer than rows of the journal are kept.
struct JournalSnapshot: Sendable {
    /// About the most bytes of a part; a row is in one part.
    private static let partBytes = 1 << 20

    /// The tables of all apps.
    private let apps: JournalTables
    /// These and the position of the file.
    private let tables: JournalTables

    init(_ apps: JournalTables) {
        self.apps = apps
        tables = apps.adding(["journal_position", "journal_scope"])
    }

    /// Passes on the rows of a file, in parts.
    ///
    /// - Parameters:
    ///   - hasPosition: whether the file follows the journal that the snapshot is for.
    ///   - values: returns the values of a row of a table in the snapshot.
    func write(
        _ db: Database,
        hasPosition: Bool,
        values: JournalCopy.Values = { Array($1.databaseValues) },
        _ receive: (Data) throws -> Void
    ) throws {
        for table in hasPosition ? tables.names : apps.names {
            try forEachPart(of: table, .insert, db, values: values) { try receive($0.encoded) }
        }
    }

    /// Replaces all rows of a file by those of a snapshot.
    ///
    /// - Parameter parts: calls its argument with each part.
    /// - Returns: the changes of the apps' rows.
    /// - Throws: ``JournalStop/Reason``, `DatabaseError`, errors of `parts`.
    func restore(to db: Database, _ parts: ((Changeset) throws -> Void) throws -> Void) throws -> [Changeset.Change] {
        var changes = try erase(db)
        try parts { changeset in
            try changeset.apply(tables, in: db, isPart: true)
            changes += changeset.changes
        }
        for table in apps.names where try db.foreignKeyViolations(in: table).next() != nil {
            throw JournalStop.Reason.danglingReference(table: table)
        }
        return changes.filter { apps.isReplicated($0.table) }
    }

    /// Removes all rows, and the rows of local tables that are derived from them.
    private func erase(_ db: Database) throws -> [Changeset.Change] {
        var changesets: [Changeset] = []
        for table in tables.names { try forEachPart(of: table, .delete, db) { changesets.append($0) } }
        for changeset in changesets { try changeset.apply(tables, in: db, isPart: true) }
        return changesets.flatMap(\.changes)
    }

    private func forEachPart(
        of table: String,
        _ operation: Changeset.Change.Operation,
        _ db: Database,
        values: JournalCopy.Values = { Array($1.databaseValues) },
        _ receive: (Changeset) throws -> Void
    ) throws {
        let keyPlaces = try tables.keyPlaces(of: table, db)
        var writer = ChangesetWriter()
        let columns = try db.columns(in: table).map { $0.name.quotedDatabaseIdentifier }.joined(separator: ", ")
        let rows = try Row.fetchCursor(db, sql: "SELECT \(columns) FROM \(table.quotedDatabaseIdentifier)")
        while let row = try rows.next() {
            let values = try values(table, row)
            writer.add(
                Changeset.Change(
                    table: table,
                    operation: operation,
                    isIndirect: false,
                    keyPlaces: keyPlaces,
                    old: operation == .delete ? values : [],
                    new: operation == .insert ? values : []
                )
            )
            if writer.bytes.count >= Self.partBytes, let part = try writer.take() { try receive(part) }
        }
        if let part = try writer.take() { try receive(part) }
    }
}

/// Reads and replaces the snapshot of a journal.
struct JournalSnapshots: Sendable {
    /// The time that it may take.
    private static let timeout = Duration.seconds(600)

    let store: JournalStore
    let file: JournalFile
    let limits: JournalLimits
    let logger: Logger

    /// Replaces the rows of this server by those of the snapshot and of the journal after it.
    ///
    /// - Throws: ``JournalError``, `ClusterError`, `StorageError`, `CancellationError`.
    func restore() async throws {
        logger.notice("reading the snapshot of the journal: this server misses rows or columns")
        try await store.database.write(locks: [JournalStore.snapshotLock], within: Self.timeout) {
            try file.readToEnd(of: store, in: $0)
        }
    }

    /// Writes a snapshot of this server's rows and removes those that the journal need not keep, if it is long.
    ///
    /// - Throws: `ClusterError`, `StorageError`, `CancellationError`.
    func cutIfLong() async throws {
        guard try await store.database.read({ try store.isLong(limits, in: $0) }) else { return }
        try await store.database.write(locks: [JournalStore.snapshotLock], within: Self.timeout) { transaction in
            // Another server may have done it meanwhile.
            guard try store.isLong(limits, in: transaction) else { return }
            try file.database.read { db in
                // A build that knows all columns does it.
                guard try JournalFile.leavingOut(db) == nil else { return }
                let number = try JournalFile.position(db).first
                guard try number >= store.cut(in: transaction) else { return }
                let snapshot = JournalSnapshot(file.tables)
                try store.replaceSnapshot(in: transaction) { try snapshot.write(db, hasPosition: true, $0) }
                try store.cut(below: number, limits, in: transaction)
                logger.info("the journal begins with a new snapshot", metadata: ["below": .stringConvertible(number)])
            }
        }
    }
}

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
    package init(_ tables: JournalTables, schema: Int, of database: LarderDatabase, in shared: PostgresDatabase) {
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
    /// - Throws: `ClusterError`, `StorageError`, GRDB's errors, errors of `values`.
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
            try ClusterContents.insert(reader.blob, in: transaction) { try reader.read($0) }
        }
    }

    /// Copies the rows of the journal to the file, and the files that they name.
    ///
    /// - Returns: the name of the journal.
    /// - Throws: ``JournalError``, `ClusterError`, `StorageError`, GRDB's errors.
    @discardableResult
    package func copy(_ transaction: SQLTransaction, to db: Database) throws -> String {
        if let stop = try file.readToEnd(of: store, in: transaction, to: db) { throw JournalError.stopped(stop) }
        for id in try tables.named(db) {
            let writer = try file.database.blobs.writer(id)
            try ClusterContents.read(id, in: transaction) { try writer.append($0) }
            try file.database.blobs.insert(try writer.finish(), in: db)
        }
        let identity = try JournalFile.followed(db)?.identity
        try JournalFile.leave(db)
        return identity ?? ""
    }
}
