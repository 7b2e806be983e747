import Foundation
import GRDB
import Logging
import Storage

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

    /// Replaces the rows of this server by those of the snapshot and of the journal behind it.
    ///
    /// - Throws: ``JournalError``, `SharedStoreError`, `StorageError`, `CancellationError`.
    func restore() async throws {
        logger.notice("reading the snapshot of the journal: this server misses rows or columns")
        try await store.database.write(locks: [JournalStore.snapshotLock], within: Self.timeout) {
            try file.readToEnd(of: store, in: $0)
        }
    }

    /// Writes a snapshot of this server's rows and removes those that the journal need not keep, if it is long.
    ///
    /// - Throws: `SharedStoreError`, `StorageError`, `CancellationError`.
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
