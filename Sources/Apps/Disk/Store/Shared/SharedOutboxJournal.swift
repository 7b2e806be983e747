import Database
import SharedStore
import Upstream

/// The journal of writes that wait for the API, in the store that servers share.
///
/// Each change of an account's operations has a number, which ``begin(_:_:)`` gives it: who has all up to one number
/// reads what was put since.
struct SharedOutboxJournal: OutboxJournal {
    /// Begins a change of an account's operations. It must be called before they are changed, in each transaction.
    ///
    /// - Returns: The number of the change.
    func begin(_ account: String, _ transaction: SQLTransaction) throws -> Int64 {
        try transaction.rows(Self.count, [account]).first?.value("number") ?? 0
    }

    /// Returns the number of the latest change of an account's operations.
    func number(of account: String, _ transaction: SQLTransaction) throws -> Int64 {
        try position(of: account, transaction).number
    }

    /// Returns the numbers of the latest change of an account's operations, and of the latest one after which rows of
    /// the table do not tell all that was changed.
    private func position(of account: String, _ transaction: SQLTransaction) throws -> (number: Int64, reset: Int64) {
        let sql = "SELECT number, reset FROM disk_outbox_change WHERE account = $1"
        guard let row = try transaction.rows(sql, [account]).first else { return (0, 0) }
        return (try row.value("number"), try row.value("reset"))
    }

    /// What was changed of an account's operations.
    enum Changes: Sendable {
        /// What was put since the number that was asked about.
        case put([OutboxEntry<QueuedWrite>])
        /// All that is not done.
        case all([OutboxEntry<QueuedWrite>])
    }

    /// Returns what was changed of an account's operations since a number, and the number of the latest change; nil if
    /// it is the same.
    func changes(of account: String, since seen: Int64?, _ transaction: SQLTransaction) throws
        -> (Changes, number: Int64)?
    {
        let (number, reset) = try position(of: account, transaction)
        if number == seen { return nil }
        guard let seen, seen > 0, reset <= seen, seen < number else {
            return (.all(try unfinished(of: account, transaction)), number)
        }
        let sql = "SELECT * FROM disk_outbox WHERE account = $1 AND changed > $2 ORDER BY number"
        return (.put(try transaction.rows(sql, [account, seen]).map { try entry($0) }), number)
    }

    func put<Work>(_ entry: inout OutboxEntry<Work>, _ transaction: SQLTransaction) throws {
        let isDone = entry.progress.state == .done
        if isDone { entry.blob = nil }
        let row = try OutboxRow(entry)
        let parameters: [any SQLParameter] = [
            row.id, row.account, row.work, row.state, row.attempts, row.isDoubtful, row.reason, row.dueAt, row.queuedAt,
            entry.blob?.id.description, entry.blob?.length,
        ]
        if let stored = try transaction.rows(Self.upsert, parameters).first {
            entry.number = try stored.value("number")
        }
        if isDone { try transaction.execute(Self.deleteOld, [entry.account]) }
    }

    func remove(_ id: String, _ transaction: SQLTransaction) throws {
        try transaction.execute(Self.delete, [id])
    }

    func removeAll(of account: String, _ transaction: SQLTransaction) throws {
        try transaction.execute("DELETE FROM disk_outbox WHERE account = $1", [account])
    }

    func unfinished<Work>(_ transaction: SQLTransaction) throws -> [OutboxEntry<Work>] {
        let sql = "SELECT * FROM disk_outbox WHERE state <> 'done' ORDER BY number"
        return try transaction.rows(sql).map { try entry($0) }
    }

    /// Returns what is not done of an account, in order.
    func unfinished<Work>(of account: String, _ transaction: SQLTransaction) throws -> [OutboxEntry<Work>] {
        let sql = "SELECT * FROM disk_outbox WHERE account = $1 AND state <> 'done' ORDER BY number"
        return try transaction.rows(sql, [account]).map { try entry($0) }
    }

    func entry<Work>(_ id: String, account: String, _ transaction: SQLTransaction) throws -> OutboxEntry<Work>? {
        let sql = "SELECT * FROM disk_outbox WHERE id = $1 AND account = $2"
        return try transaction.rows(sql, [id, account]).first.map { try entry($0) }
    }

    private func entry<Work>(_ row: SQLRow) throws -> OutboxEntry<Work> {
        let read = OutboxRow(
            number: try row.value("number"),
            id: try row.value("id"),
            account: try row.value("account"),
            work: try row.value("work"),
            state: try row.value("state"),
            attempts: try row.value("attempts"),
            isDoubtful: try row.value("doubtful"),
            reason: try row.value("reason"),
            dueAt: try row.value("due_at"),
            queuedAt: try row.value("queued_at")
        )
        guard let name: String = try row.value("blob_id") else { return try read.entry(blob: nil) }
        guard let id = BlobID(fileName: name) else { throw SharedStoreError.typeMismatch(column: "blob_id") }
        return try read.entry(blob: Blob(id: id, length: row.value("length")))
    }

    private static let upsert = """
        INSERT INTO disk_outbox (
            id, account, work, state, attempts, doubtful, reason, due_at, queued_at, blob_id, length, changed
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, currval('disk_outbox_change_number'))
        ON CONFLICT (id) DO UPDATE SET
            work = excluded.work, state = excluded.state, attempts = excluded.attempts, doubtful = excluded.doubtful,
            reason = excluded.reason, due_at = excluded.due_at, blob_id = excluded.blob_id, length = excluded.length,
            changed = excluded.changed
        RETURNING number
        """
    private static let deleteOld = """
        WITH gone AS (
            DELETE FROM disk_outbox WHERE account = $1 AND state = 'done' AND number <= (
                SELECT number FROM disk_outbox WHERE account = $1 AND state = 'done'
                ORDER BY number DESC LIMIT 1 OFFSET \(OutboxRow.keptFinished)
            )
            RETURNING changed
        )
        UPDATE disk_outbox_change SET reset = greatest(reset, (SELECT max(changed) FROM gone))
        WHERE account = $1 AND EXISTS (SELECT 1 FROM gone)
        """
    private static let delete = """
        WITH gone AS (DELETE FROM disk_outbox WHERE id = $1 RETURNING account)
        UPDATE disk_outbox_change SET reset = number WHERE account IN (SELECT account FROM gone)
        """
    private static let count = """
        INSERT INTO disk_outbox_change (account, number, reset)
        SELECT $1, latest, latest FROM nextval('disk_outbox_change_number') AS latest
        ON CONFLICT (account) DO UPDATE SET number = excluded.number RETURNING number
        """
}

extension SharedOutbox {
    /// The tables that servers share.
    static let migrations = [
        SharedMigration(
            "disk/005 outbox",
            sql: """
                CREATE TABLE disk_outbox (
                    number int8 GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, -- the order of sending
                    id text COLLATE "C" NOT NULL UNIQUE,
                    account text COLLATE "C" NOT NULL,
                    work text NOT NULL,                     -- JSON
                    state text COLLATE "C" NOT NULL
                        CHECK (state IN ('queued', 'running', 'waiting', 'conflict', 'failed', 'done')),
                    attempts int8 NOT NULL,
                    doubtful boolean NOT NULL,              -- it may have been carried out
                    reason text,
                    due_at int8,                            -- milliseconds since 1970 UTC, as all times
                    queued_at int8 NOT NULL,
                    blob_id text COLLATE "C",               -- its bytes
                    length int8,
                    changed int8 NOT NULL DEFAULT 0         -- the number of its latest change
                );
                CREATE INDEX disk_outbox_by_account ON disk_outbox (account, state, number);
                CREATE INDEX disk_outbox_by_change ON disk_outbox (account, changed);
                CREATE INDEX disk_outbox_unfinished ON disk_outbox (account) WHERE state <> 'done';

                -- The latest change of each account's operations. Numbers of all accounts are of one sequence, so that
                -- those of an account which was logged out and in again are greater than before.
                CREATE TABLE disk_outbox_change (
                    account text COLLATE "C" PRIMARY KEY,
                    number int8 NOT NULL,
                    reset int8 NOT NULL DEFAULT 0           -- the first one, or the latest that has removed rows
                );
                CREATE SEQUENCE disk_outbox_change_number;

                CREATE TABLE disk_outbox_content (
                    id text COLLATE "C" PRIMARY KEY,
                    length int8 NOT NULL,
                    unused timestamptz DEFAULT now()        -- since when no operation has it; NULL: one has
                );
                CREATE INDEX disk_outbox_content_by_disuse ON disk_outbox_content (unused) WHERE unused IS NOT NULL;

                CREATE TABLE disk_outbox_content_part (
                    content text COLLATE "C" NOT NULL REFERENCES disk_outbox_content (id),
                    number int8 NOT NULL,                   -- from 0
                    bytes bytea NOT NULL,                   -- 1 MiB, of the last one what is left
                    PRIMARY KEY (content, number)
                );
                ALTER TABLE disk_outbox_content_part ALTER COLUMN bytes SET STORAGE EXTERNAL;

                -- Bytes go with their operation, also by a logout.
                CREATE FUNCTION disk_outbox_abandon() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    UPDATE disk_outbox_content SET unused = '-infinity' WHERE id = old.blob_id;
                    RETURN NULL;
                END
                $$;
                CREATE TRIGGER disk_outbox_deleted AFTER DELETE ON disk_outbox
                    FOR EACH ROW WHEN (old.blob_id IS NOT NULL) EXECUTE FUNCTION disk_outbox_abandon();
                CREATE TRIGGER disk_outbox_took_other_blob AFTER UPDATE OF blob_id ON disk_outbox
                    FOR EACH ROW WHEN (old.blob_id IS NOT NULL AND old.blob_id IS DISTINCT FROM new.blob_id)
                    EXECUTE FUNCTION disk_outbox_abandon();
                """
        ),
        SharedMigration(
            "disk/006 outbox states",
            sql: "ALTER TABLE disk_outbox DROP CONSTRAINT disk_outbox_state_check;"
        ),
    ]
}
