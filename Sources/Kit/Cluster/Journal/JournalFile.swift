import Foundation
import GRDB
import Logging
import Storage
import Synchronization

/// The server's own copy: applies rows of the journal to its SQLite file, and records in the same transactions which.
/// Its functions throw `StorageError`; their comments name other errors.
struct JournalFile: Sendable {
    /// The tables of a server's position.
    static let migrations = [
        SchemaMigration(
            "journal/001 position",
            sql: """
                -- The journal that this file follows, and how far.
                CREATE TABLE journal_position (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    identity TEXT NOT NULL,
                    next INTEGER NOT NULL,
                    open TEXT NOT NULL              -- numbers below next that may yet come, separated by spaces
                ) STRICT;

                -- The last row of each scope that was applied.
                CREATE TABLE journal_scope (
                    scope TEXT NOT NULL PRIMARY KEY,
                    number INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """
        ),
        SchemaMigration(
            "journal/002 columns of newer builds",
            sql: """
                -- The file lacks tables or columns of newer builds, which a build of this schema has left out.
                CREATE TABLE journal_left_out (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    schema INTEGER NOT NULL
                ) STRICT;
                """
        ),
        SchemaMigration(
            "journal/003 reading",
            sql: """
                -- When a reading to the end was last noted, in seconds since 1970; none after a row that stopped it.
                CREATE TABLE journal_reading (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    ended_at INTEGER NOT NULL
                ) STRICT;
                """
        ),
    ]

    let database: LarderDatabase
    let tables: JournalTables
    /// The version of the schema of this build.
    let schema: Int
    /// Whether tables and columns of a newer build are left out; else they stop the reading.
    var leavesOutNewer = true
    var logger: Logger?
    /// Receives changes after their commit.
    var report: @Sendable ([Changeset.Change]) -> Void = { _ in }
    /// Files that this server has, for rows that are being written.
    let written = WrittenContents()

    /// Returns how far the file is.
    func position() throws -> JournalPosition { try database.read(Self.position) }

    /// The file lacks rows that only the snapshot has.
    struct NeedsSnapshot: Error {}

    /// Applies a page, and records the position.
    ///
    /// - Throws: ``JournalError/stopped(_:)`` after the rows before the one that cannot be applied; ``NeedsSnapshot``,
    ///   ``JournalError``, `StorageError`.
    func apply(_ page: JournalPage) throws {
        if let stop = try database.write({ try apply(page, to: $0) }) { throw JournalError.stopped(stop) }
    }

    /// Applies a page in a transaction.
    ///
    /// - Returns: why a row cannot be applied; those before it are.
    func apply(_ page: JournalPage, to db: Database) throws -> JournalStop? {
        if try needsSnapshot(page, db) { throw NeedsSnapshot() }
        try check(page.identity, db)
        let (last, stop) = try apply(page.rows, db)
        var position = try Self.position(db)
        let before = position
        let isComplete = page.isComplete && stop == nil
        position.advance(from: page.start, through: last, in: page.snapshot, isComplete: isComplete)
        if position != before { try record(position, db) }
        if stop != nil {
            try db.execute(sql: "DELETE FROM journal_reading")
        } else if isComplete, position != before {
            try db.cachedStatement(sql: Self.noteEnd).execute()
        }
        return stop
    }

    private static let noteEnd = """
        INSERT INTO journal_reading VALUES (1, unixepoch()) ON CONFLICT DO UPDATE SET ended_at = excluded.ended_at
        """

    /// Notes that the journal was read to its end now, even if that had nothing new.
    func noteReading() throws { try database.write { try $0.cachedStatement(sql: Self.noteEnd).execute() } }

    /// Returns how old the rows may be: the time since a reading to the end was last noted. Nil if the last reading has
    /// stopped at a row, or if an older build has left out columns of this one.
    func age() throws -> Duration? {
        try database.read { (db) -> Duration? in
            if try lacksColumns(db) { return nil }
            let select = "SELECT max(0, unixepoch() - ended_at) FROM journal_reading"
            return try Int64.fetchOne(db, sql: select).map { .seconds($0) }
        }
    }

    /// Whether this build knows more than the one that has left something out.
    private func lacksColumns(_ db: Database) throws -> Bool { try Self.leavingOut(db).map { $0 < schema } ?? false }

    private func needsSnapshot(_ page: JournalPage, _ db: Database) throws -> Bool {
        // All is read again.
        if try lacksColumns(db) { return true }
        guard page.hasSnapshot else { return false }
        guard try Journal.isFollowed(db) else {
            // A file with rows of its own is refused.
            try check(page.identity, db)
            return true
        }
        return try Self.position(db).first < page.cut
    }

    /// Applies all that the file misses, the snapshot as well, in one transaction: a read never sees rows that are
    /// older than those before.
    ///
    /// - Throws: ``JournalError``, `ClusterError`, `StorageError`.
    func readToEnd(of store: JournalStore, in transaction: SQLTransaction) throws {
        let stop = try database.write { try readToEnd(of: store, in: transaction, to: $0) }
        if let stop { throw JournalError.stopped(stop) }
    }

    /// Does the same in a transaction.
    ///
    /// - Returns: why a row cannot be applied; those before it are.
    func readToEnd(of store: JournalStore, in transaction: SQLTransaction, to db: Database) throws -> JournalStop? {
        while true {
            let page = try store.page(after: Self.position(db), in: transaction)
            if try needsSnapshot(page, db) {
                try restore(page, from: store, in: transaction, to: db)
                continue
            }
            let stop = try apply(page, to: db)
            if stop != nil || page.isComplete { return stop }
        }
    }

    /// Replaces all rows by those of the snapshot, or by none if the journal has all.
    private func restore(
        _ page: JournalPage,
        from store: JournalStore,
        in transaction: SQLTransaction,
        to db: Database
    ) throws {
        if try Journal.isFollowed(db) { try check(page.identity, db) }
        do {
            try db.execute(sql: "DELETE FROM journal_left_out")
            let changes = try JournalSnapshot(tables).restore(to: db) { receive in
                try store.forEachPart(in: transaction) { try receive(changeset($0, of: $1, db)) }
            }
            try follow(try tables.contentChange(changes, db), db)
            db.afterNextTransaction { [report] _ in report(changes) }
        } catch let reason as JournalStop.Reason {
            throw JournalError.stopped(JournalStop(number: 0, scope: "snapshot", reason: reason))
        }
        // The snapshot of a copied file has no position.
        let follow = "INSERT INTO journal_position VALUES (1, ?, ?, '') ON CONFLICT DO NOTHING"
        try db.execute(sql: follow, arguments: [page.identity, page.cut])
    }

    /// Removes the position: the file belongs to no journal any more.
    static func leave(_ db: Database) throws {
        for table in ["journal_position", "journal_scope", "journal_left_out", "journal_reading"] {
            try db.execute(sql: "DELETE FROM \(table)")
        }
    }

    /// Runs updates for their changes (``Changeset/capture(_:in:_:)``). The transaction is rolled back whole, so that
    /// nothing of it is written to the disk.
    ///
    /// - Throws: ``JournalError``, `StorageError`, errors of `updates`.
    func capture<Value>(_ updates: (Database) throws -> Value) throws -> (value: Value, changeset: Changeset) {
        var outcome: Result<(value: Value, changeset: Changeset), any Error>?
        do {
            try database.write { (db) -> Void in
                outcome = Result { try Changeset.capture(tables, in: db, updates) }
                throw RolledBack()
            }
        } catch is RolledBack {}
        guard let outcome else { throw CancellationError() }
        return try outcome.mapError(database.translating).get()
    }

    private struct RolledBack: Error {}

    /// Applies a row that this server has written.
    ///
    /// - Throws: ``JournalError/stopped(_:)``, `StorageError`.
    func apply(_ row: JournalRow) throws {
        let stop = try database.write { db in try apply([row], db).stop }
        if let stop { throw JournalError.stopped(stop) }
    }

    /// Returns the number that follows the highest one in a table.
    func nextRowID(of table: String) throws -> Int64 {
        let sql = "SELECT max(rowid) FROM \(table.quotedDatabaseIdentifier)"
        return try database.read { try Int64.fetchOne($0, sql: sql) ?? 0 } + 1
    }

    /// Applies rows up to the first that cannot be applied.
    ///
    /// - Returns: the number of the last one that is applied, and why the next one is not.
    private func apply(_ rows: [JournalRow], _ db: Database) throws -> (last: Int64?, stop: JournalStop?) {
        var last: Int64?
        for row in rows {
            do {
                try apply(row, db)
            } catch let reason as JournalStop.Reason {
                return (last, JournalStop(number: row.link.number, scope: row.scope, reason: reason))
            }
            last = row.link.number
        }
        return (last, nil)
    }

    private func apply(_ row: JournalRow, _ db: Database) throws {
        let find = try db.cachedStatement(sql: "SELECT number FROM journal_scope WHERE scope = ?")
        guard try row.link.follows(Int64.fetchOne(find, arguments: [row.scope]) ?? 0) else { return }
        var changeset: Changeset?
        try db.inSavepoint {
            let known = try self.changeset(row.changeset, of: row.schema, db)
            changeset = known
            try known.apply(tables, in: db)
            try follow(try tables.contentChange(known.changes, db), db)
            let note = "INSERT INTO journal_scope VALUES (?, ?) ON CONFLICT DO UPDATE SET number = excluded.number"
            try db.cachedStatement(sql: note).execute(arguments: [row.scope, row.link.number])
            return .commit
        }
        db.afterNextTransaction { [report, changeset] _ in changeset.map { report($0.changes) } }
    }

    /// Reads the stored form of changes, without those that only a newer build knows. That migrations change and remove
    /// no column is held by `UpgradeTests`: a row that is inserted into fewer columns would not be noticed here.
    private func changeset(_ encoded: Data, of schema: Int, _ db: Database) throws -> Changeset {
        let changeset: Changeset
        do throws(Changeset.Damage) {
            changeset = try Changeset(encoded: encoded)
        } catch {
            throw JournalStop.Reason.damaged(error)
        }
        guard schema > self.schema else { return changeset }
        guard leavesOutNewer else { throw JournalStop.Reason.newerSchema(schema) }
        let known = try changeset.reduced { try db.tableExists($0) ? tables.keyPlaces(of: $0, db) : nil }
        if known != changeset { try leaveOut(schema, db) }
        return known
    }

    private func leaveOut(_ newer: Int, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO journal_left_out VALUES (1, ?) ON CONFLICT DO NOTHING", arguments: [schema])
        guard db.changesCount > 0 else { return }
        db.afterNextTransaction { [logger] _ in
            logger?.notice(
                "a newer build has written tables or columns that this one leaves out",
                metadata: ["schema": .stringConvertible(newer)]
            )
        }
    }

    /// Returns the schema of the build that has left out something of newer ones; nil if the file has all.
    static func leavingOut(_ db: Database) throws -> Int? {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT schema FROM journal_left_out"))
    }

    /// Gives rows the files that this server has for them, and removes those that no row names any more.
    private func follow(_ change: ContentChange, _ db: Database) throws {
        for blob in change.named.compactMap({ written[$0] }) {
            do {
                try database.blobs.insert(blob, in: db)
            } catch StorageError.blobUnavailable {
                // It is fetched when it is needed.
            }
        }
        let delete = try db.cachedStatement(sql: "DELETE FROM blob WHERE id = ?")
        for id in change.lost { try delete.execute(arguments: [id]) }
    }

    /// Returns the files that rows get and lose by a changeset that is to be inserted into the journal.
    func contentChange(_ changeset: Changeset) throws -> ContentChange {
        try database.read { try tables.contentChange(changeset.changes, $0) }
    }

    /// Checks that the file follows this journal; a new one begins to.
    private func check(_ identity: String, _ db: Database) throws {
        guard let own = try Self.followed(db)?.identity else {
            if let table = try tables.firstWithRows(db) { throw JournalError.otherRows(table: table) }
            try db.execute(sql: "INSERT INTO journal_position VALUES (1, ?, 0, '')", arguments: [identity])
            return
        }
        guard own == identity else { throw JournalError.otherJournal(expected: own, found: identity) }
    }

    static func position(_ db: Database) throws -> JournalPosition {
        try followed(db)?.position ?? JournalPosition()
    }

    /// Returns the name of the journal that the file follows, and how far; nil if it follows none.
    static func followed(_ db: Database) throws -> (identity: String, position: JournalPosition)? {
        let find = try db.cachedStatement(sql: "SELECT identity, next, open FROM journal_position")
        guard let row = try Row.fetchOne(find) else { return nil }
        let position = JournalPosition(
            next: try row.value("next"),
            open: try row.value("open") { (text: String) in text.split(separator: " ").compactMap { Int64($0) } }
        )
        return (try row.value("identity"), position)
    }

    private func record(_ position: JournalPosition, _ db: Database) throws {
        let open = position.open.map(String.init).joined(separator: " ")
        try db.cachedStatement(sql: "UPDATE journal_position SET next = ?, open = ?")
            .execute(arguments: [position.next, open])
    }
}

/// A row of the journal: the changes of one write.
struct JournalRow: Sendable, Equatable {
    let link: JournalLink
    let scope: String
    /// The version of the schema that the writer had.
    let schema: Int
    /// The changeset in its stored form.
    let changeset: Data
}

/// The files of rows that a server is writing: when it applies such a row, it has the file already.
final class WrittenContents: Sendable {
    private let blobs = Mutex<[BlobID: Blob]>([:])

    subscript(id: BlobID) -> Blob? { blobs.withLock { $0[id] } }

    func add(_ written: [Blob]) { blobs.withLock { blobs in for blob in written { blobs[blob.id] = blob } } }

    func remove(_ written: [Blob]) { blobs.withLock { blobs in for blob in written { blobs[blob.id] = nil } } }
}

/// The result of one statement that reads the journal.
struct JournalPage: Sendable {
    /// The journal's name for itself.
    let identity: String
    /// Rows below this number are gone.
    let cut: Int64
    /// Whether the journal begins with a snapshot.
    let hasSnapshot: Bool
    /// The position that it was fetched from.
    let start: JournalPosition
    let snapshot: PostgresSnapshot
    /// In the order of their numbers.
    let rows: [JournalRow]
    /// Whether these are all rows that the server misses.
    let isComplete: Bool
}
