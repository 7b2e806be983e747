import Foundation
package import GRDB
import Storage

/// The journal of an outbox: a table of the users' rows, which several servers may replicate.
///
/// Operations of an account are changed one transaction after the other, and so is the number that a new one gets.
/// Bytes belong to rows, as blobs: eviction and purges do not know them, and triggers remove them with their rows.
package struct OutboxJournal: Sendable {
    /// Finished operations of each account that are kept, so that a client can still ask for them.
    static let keptFinished = 100

    package let table: String

    package init(_ table: String) {
        self.table = table
    }

    /// The statements that create the table.
    package var creation: String {
        """
        CREATE TABLE \(table) (
            account TEXT NOT NULL,
            number INTEGER NOT NULL, -- the order of sending
            id TEXT NOT NULL UNIQUE,
            work TEXT NOT NULL, -- JSON
            state TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            doubtful INTEGER NOT NULL, -- 1: it may have been carried out
            reason TEXT,
            due_at INTEGER,
            queued_at INTEGER NOT NULL,
            blob_id INTEGER, -- of several servers, not each has it
            length INTEGER,
            PRIMARY KEY (account, number)
        ) STRICT;
        CREATE INDEX \(table)_by_account ON \(table) (account, state, number);
        CREATE UNIQUE INDEX \(table)_by_blob ON \(table) (blob_id) WHERE blob_id IS NOT NULL;

        CREATE TRIGGER \(table)_deleted AFTER DELETE ON \(table) WHEN old.blob_id IS NOT NULL BEGIN
            DELETE FROM blob WHERE id = old.blob_id;
        END;
        CREATE TRIGGER \(table)_took_other_blob AFTER UPDATE OF blob_id ON \(table)
        WHEN old.blob_id IS NOT NULL AND old.blob_id IS NOT new.blob_id BEGIN
            DELETE FROM blob WHERE id = old.blob_id;
        END;
        """
    }

    /// Replaces a table of an earlier build, with its operations. It had fewer states, and numbered the operations of
    /// all accounts together.
    package func renew(_ db: Database) throws {
        let columns =
            "account, number, id, work, state, attempts, doubtful, reason, due_at, queued_at, blob_id, length"
        try db.execute(
            sql: """
                CREATE TEMP TABLE \(table)_kept AS SELECT \(columns) FROM \(table);
                DROP TABLE \(table);
                \(creation)
                INSERT INTO \(table) (\(columns)) SELECT \(columns) FROM temp.\(table)_kept;
                DROP TABLE temp.\(table)_kept;
                """
        )
    }

    /// Makes changes.
    ///
    /// - Returns: The changes, with the numbers of the operations that were put.
    func make<Work>(_ changes: [OutboxChange<Work>], _ db: Database) throws -> [OutboxChange<Work>] {
        try changes.map { change in
            switch change {
            case .put(var entry):
                try put(&entry, db)
                return .put(entry)
            case .remove(let entry):
                try db.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?").execute(arguments: [entry.id])
                return change
            }
        }
    }

    /// Stores an operation, and gives a new one its number. One that is done leaves its bytes, and all but the latest
    /// (``keptFinished``) of those that are done are removed.
    private func put<Work>(_ entry: inout OutboxEntry<Work>, _ db: Database) throws {
        let progress = entry.progress
        let isDone = progress.state == .done
        if isDone { entry.blob = nil }
        let number = entry.number == 0 ? nil : entry.number
        let work = String(decoding: try JSONEncoder().encode(entry.work), as: UTF8.self)
        let stored = try Int64.fetchOne(
            db.cachedStatement(sql: upsert),
            arguments: [
                "number": number, "id": entry.id, "account": entry.account, "work": work,
                "state": progress.state.rawValue, "attempts": progress.attempts, "doubtful": progress.isOutcomeUnknown,
                "reason": progress.reason, "due": progress.nextAttempt?.millisecondsSince1970,
                "queued": entry.queuedAt.millisecondsSince1970, "blob": entry.blob?.id, "length": entry.blob?.length,
            ]
        )
        if let stored { entry.number = stored }
        if isDone { try db.cachedStatement(sql: deleteOld).execute(arguments: [entry.account, entry.account]) }
    }

    /// Removes all operations of an account and their bytes.
    func removeAll(of account: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM \(table) WHERE account = ?", arguments: [account])
    }

    /// Removes some of the last operations of an account.
    ///
    /// - Parameters:
    ///   - most: The number of operations that may stay.
    ///   - part: The most that are removed.
    /// - Returns: Whether any were removed.
    package func shorten(of account: String, to most: Int, by part: Int, _ db: Database) throws -> Bool {
        let count = try Int.fetchOne(
            db,
            sql: "SELECT count(*) FROM \(table) WHERE account = ?",
            arguments: [account]
        )
        let removed = min(part, (count ?? 0) - most)
        guard removed > 0 else { return false }
        try db.execute(
            sql: """
                DELETE FROM \(table) WHERE account = ?1 AND number IN (
                    SELECT number FROM \(table) WHERE account = ?1 ORDER BY number DESC LIMIT ?2
                )
                """,
            arguments: [account, removed]
        )
        return true
    }

    /// Returns the pending operations, in order. A row that cannot be read is an error: no operation is dropped.
    func unfinished<Work>(_ db: Database) throws -> [OutboxEntry<Work>] {
        let sql = "SELECT * FROM \(table) WHERE state <> 'done' ORDER BY account, number"
        return try Row.fetchAll(db, sql: sql).map { try entry($0) }
    }

    /// Returns the pending operations of an account, in order.
    package func unfinished<Work>(of account: String, _ db: Database) throws -> [OutboxEntry<Work>] {
        let sql = "SELECT * FROM \(table) WHERE account = ? AND state <> 'done' ORDER BY number"
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [account]).map { try entry($0) }
    }

    /// Returns an operation, also one that is done; nil if there is none.
    func entry<Work>(_ id: String, account: String, _ db: Database) throws -> OutboxEntry<Work>? {
        let sql = "SELECT * FROM \(table) WHERE id = ? AND account = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [id, account]).map { try entry($0) }
    }

    /// Returns the operation with a number, also one that is done; nil if there is none.
    func entry<Work>(_ number: Int64, of account: String, _ db: Database) throws -> OutboxEntry<Work>? {
        let sql = "SELECT * FROM \(table) WHERE account = ? AND number = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [account, number]).map { try entry($0) }
    }

    /// Reads a row of the table.
    ///
    /// - Throws: `DatabaseError` if no build has written it.
    package func entry<Work>(_ row: Row) throws -> OutboxEntry<Work> {
        let json = Data((try row.value("work") as String).utf8)
        guard let work = try? JSONDecoder().decode(Work.self, from: json) else {
            throw DatabaseError.damaged("\(table).work")
        }
        var entry = OutboxEntry(
            id: try row.value("id"),
            account: try row.value("account"),
            work: work,
            progress: OutboxProgress(
                state: OutboxState(rawValue: try row.value("state")) ?? .queued,
                attempts: try row.size("attempts"),
                nextAttempt: try (row.value("due_at") as Int64?).map(Date.init(millisecondsSince1970:)),
                isOutcomeUnknown: try row.value("doubtful"),
                reason: try row.value("reason")
            ),
            blob: try (row.value("blob_id") as BlobID?).map { Blob(id: $0, length: try row.size("length")) },
            queuedAt: Date(millisecondsSince1970: try row.value("queued_at"))
        )
        entry.number = try row.value("number")
        return entry
    }

    private var upsert: String {
        """
        INSERT INTO \(table) (
            account, number, id, work, state, attempts, doubtful, reason, due_at, queued_at, blob_id, length
        )
        VALUES (
            :account, ifnull(:number, (SELECT ifnull(max(number), 0) + 1 FROM \(table) WHERE account = :account)),
            :id, :work, :state, :attempts, :doubtful, :reason, :due, :queued, :blob, :length
        )
        ON CONFLICT (id) DO UPDATE SET
            work = excluded.work, state = excluded.state, attempts = excluded.attempts, doubtful = excluded.doubtful,
            reason = excluded.reason, due_at = excluded.due_at, blob_id = excluded.blob_id, length = excluded.length
        RETURNING number
        """
    }

    private var deleteOld: String {
        """
        DELETE FROM \(table) WHERE account = ? AND state = 'done' AND number <= (
            SELECT number FROM \(table) WHERE account = ? AND state = 'done'
            ORDER BY number DESC LIMIT 1 OFFSET \(Self.keptFinished)
        )
        """
    }
}
