import Database
package import GRDB

/// The journal of an outbox in the server's own database.
///
/// Bytes belong to rows of it, as blobs: eviction and purges do not know them, and triggers remove them with their
/// rows.
package struct LocalOutboxJournal: OutboxJournal {
    /// The name of the table.
    let table: String

    package init(_ table: String) {
        self.table = table
    }

    /// The statements that created the table at first.
    package var creation: String {
        creation(" CHECK (state IN ('queued', 'running', 'waiting', 'conflict', 'failed', 'done'))")
    }

    /// Makes a table that takes any state of one that ``creation`` has created, with its operations.
    ///
    /// - Throws: GRDB's errors.
    package func takeAnyState(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TEMP TABLE \(table)_kept AS SELECT * FROM \(table);
                CREATE TEMP TABLE \(table)_sequence AS SELECT * FROM sqlite_sequence WHERE name = '\(table)';
                DROP TABLE \(table);
                \(creation(""))
                INSERT INTO \(table) SELECT * FROM temp.\(table)_kept;
                DELETE FROM sqlite_sequence WHERE name = '\(table)';
                INSERT INTO sqlite_sequence SELECT * FROM temp.\(table)_sequence;
                DROP TABLE temp.\(table)_kept;
                DROP TABLE temp.\(table)_sequence;
                """
        )
    }

    private func creation(_ check: String) -> String {
        """
        CREATE TABLE \(table) (
            number INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of sending
            id TEXT NOT NULL UNIQUE,
            account TEXT NOT NULL,
            work TEXT NOT NULL, -- JSON
            state TEXT NOT NULL\(check),
            attempts INTEGER NOT NULL,
            doubtful INTEGER NOT NULL, -- 1: it may have been carried out
            reason TEXT,
            due_at INTEGER,
            queued_at INTEGER NOT NULL,
            blob_id INTEGER REFERENCES blob (id),
            length INTEGER
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

    /// Stores an operation, and gives a new one its number. One that is done leaves its bytes.
    package func put<Work>(_ entry: inout OutboxEntry<Work>, _ db: Database) throws {
        let isDone = entry.progress.state == .done
        if isDone { entry.blob = nil }
        let row = try OutboxRow(entry)
        try db.cachedStatement(sql: upsert).execute(arguments: [
            "number": row.number, "id": row.id, "account": row.account, "work": row.work, "state": row.state,
            "attempts": row.attempts, "doubtful": row.isDoubtful, "reason": row.reason, "due": row.dueAt,
            "queued": row.queuedAt, "blob": entry.blob?.id, "length": entry.blob?.length,
        ])
        if entry.number == 0 { entry.number = db.lastInsertedRowID }
        if isDone { try db.cachedStatement(sql: deleteOld).execute(arguments: [entry.account, entry.account]) }
    }

    /// Removes an operation and its bytes.
    package func remove(_ id: String, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?").execute(arguments: [id])
    }

    /// Removes all operations of an account and their bytes.
    package func removeAll(of account: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM \(table) WHERE account = ?", arguments: [account])
    }

    /// Returns the operations that are not done, in order.
    package func unfinished<Work>(_ db: Database) throws -> [OutboxEntry<Work>] {
        try Row.fetchAll(db, sql: "SELECT * FROM \(table) WHERE state <> 'done' ORDER BY number").map { try entry($0) }
    }

    /// Returns an operation, also one that is done; nil if there is none.
    package func entry<Work>(_ id: String, account: String, _ db: Database) throws -> OutboxEntry<Work>? {
        let sql = "SELECT * FROM \(table) WHERE id = ? AND account = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [id, account]).map { try entry($0) }
    }

    private func entry<Work>(_ row: Row) throws -> OutboxEntry<Work> {
        let read = try OutboxRow(
            number: row.value("number"),
            id: row.value("id"),
            account: row.value("account"),
            work: row.value("work"),
            state: row.value("state"),
            attempts: row.size("attempts"),
            isDoubtful: row.value("doubtful"),
            reason: row.value("reason"),
            dueAt: row.value("due_at"),
            queuedAt: row.value("queued_at")
        )
        let blob: BlobID? = try row.value("blob_id")
        do {
            return try read.entry(blob: blob.map { Blob(id: $0, length: try row.size("length")) })
        } catch is DecodingError {
            throw DatabaseError.damaged("\(table).work")
        }
    }

    private var upsert: String {
        """
        INSERT INTO \(table) (
            number, id, account, work, state, attempts, doubtful, reason, due_at, queued_at, blob_id, length
        )
        VALUES (
            :number, :id, :account, :work, :state, :attempts, :doubtful, :reason, :due, :queued, :blob, :length
        )
        ON CONFLICT (id) DO UPDATE SET
            work = excluded.work, state = excluded.state, attempts = excluded.attempts, doubtful = excluded.doubtful,
            reason = excluded.reason, due_at = excluded.due_at, blob_id = excluded.blob_id, length = excluded.length
        """
    }

    private var deleteOld: String {
        """
        DELETE FROM \(table) WHERE account = ? AND state = 'done' AND number <= (
            SELECT number FROM \(table) WHERE account = ? AND state = 'done'
            ORDER BY number DESC LIMIT 1 OFFSET \(OutboxRow.keptFinished)
        )
        """
    }
}
