import Foundation

/// The journal in PostgreSQL: its tables, and the statements on them.
struct JournalStore: Sendable {
    /// The tables that all servers share.
    static let migrations = [
        PostgresMigration(
            "journal/001 journal",
            sql: """
                -- The changes of all servers. A row's number is that of the transaction that inserted it.
                CREATE TABLE journal (
                    number int8 PRIMARY KEY,
                    scope text COLLATE "C" NOT NULL,
                    previous int8 NOT NULL,         -- the row before it in its scope; 0 for the first
                    write_id text COLLATE "C" NOT NULL CONSTRAINT journal_write UNIQUE,
                    server text COLLATE "C" NOT NULL,
                    schema_version int8 NOT NULL,
                    changeset bytea NOT NULL,
                    written_at timestamptz NOT NULL DEFAULT now()
                );
                -- The last row of each scope, which only changes under the lock of the scope.
                CREATE TABLE journal_scope (
                    scope text COLLATE "C" PRIMARY KEY,
                    number int8 NOT NULL,
                    previous int8 NOT NULL DEFAULT 0
                );
                -- How far each server is: it needs no row below its number again.
                CREATE TABLE journal_server (
                    name text COLLATE "C" PRIMARY KEY,
                    number int8 NOT NULL,
                    schema_version int8 NOT NULL,
                    seen_at timestamptz NOT NULL DEFAULT now()
                );
                -- The first rowid of each table that no server has reserved.
                CREATE TABLE journal_rowid (name text COLLATE "C" PRIMARY KEY, next int8 NOT NULL);
                CREATE TABLE journal_identity (
                    one boolean PRIMARY KEY DEFAULT true CHECK (one),
                    identity text NOT NULL DEFAULT gen_random_uuid()::text
                );
                INSERT INTO journal_identity DEFAULT VALUES;
                """
        ),
        PostgresMigration(
            "journal/002 snapshot",
            sql: """
                -- Rows below the cut are gone; the snapshot has them.
                ALTER TABLE journal_identity ADD COLUMN cut int8 NOT NULL DEFAULT 0;
                -- The rows of a server's file at one position, in changesets of insertions.
                CREATE TABLE journal_snapshot (
                    part int8 PRIMARY KEY, schema_version int8 NOT NULL, changeset bytea NOT NULL
                );
                """
        ),
        Leases.migration,
        ClusterContents.migration,
    ]

    /// Most rows, and about most bytes, of a page.
    private static let (mostRows, mostBytes) = (500, 8 << 20)
    /// Begins the messages that tell servers of a row; the sender follows.
    static let message = "journal "

    let database: PostgresDatabase
    let server: String
    /// Tells the messages of this process from those of others.
    let sender = UUID().uuidString
    let schema: Int

    /// Whether PostgreSQL's transactions have the numbers behind those of the rows. In another one than that which
    /// gave them, new rows would count as applied.
    func isOfThisServer() async throws -> Bool {
        let sql = """
            SELECT greatest(cut, (SELECT max(number) FROM journal))
                < pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS is_own
            FROM journal_identity
            """
        return try await database.rows(sql) { try $0.value("is_own") as Bool }.first ?? false
    }

    /// Fetches rows that a server misses, on a connection of its own.
    func page(after position: JournalPosition) async throws -> JournalPage {
        try await database.statement { try page(after: position, in: $0) }
    }

    /// Fetches rows that a server misses, in a transaction.
    func page(after position: JournalPosition, in transaction: SQLTransaction) throws -> JournalPage {
        let parameters: [any SQLParameter] = [
            position.next, position.open.map(Int.init), Self.mostRows, Self.mostBytes,
        ]
        let found = try transaction.rows(Self.fetching, parameters)
        guard let first = found.first else { throw ClusterError.noSuchColumn("identity") }
        guard let snapshot = PostgresSnapshot(try first.value("snapshot")) else {
            throw ClusterError.typeMismatch(column: "snapshot")
        }
        let rows = try found.compactMap(Self.journalRow)
        // How many there were before the limit of bytes.
        let count: Int? = try first.value("found")
        return JournalPage(
            identity: try first.value("identity"),
            cut: try first.value("cut"),
            hasSnapshot: try first.value("has_snapshot"),
            start: position,
            snapshot: snapshot,
            rows: rows,
            isComplete: rows.count == count ?? 0 && rows.count < Self.mostRows
        )
    }

    /// Reads a row; nil for that of a page without rows.
    private static func journalRow(_ row: SQLRow) throws -> JournalRow? {
        guard let number = try row.value("number") as Int64? else { return nil }
        return JournalRow(
            link: JournalLink(number: number, previous: try row.value("previous")),
            scope: try row.value("scope"),
            schema: try row.value("schema_version"),
            changeset: try row.value("changeset")
        )
    }

    /// Adds a row under the lock of its scope, and tells the servers after the commit.
    func insert(_ changeset: Changeset, scope: String, write: UUID, in transaction: SQLTransaction) throws -> JournalRow
    {
        let encoded = changeset.encoded
        let row = try transaction.row(
            """
            WITH head AS (
                INSERT INTO journal_scope AS scope (scope, number) VALUES ($1, pg_current_xact_id()::text::int8)
                ON CONFLICT (scope) DO UPDATE SET number = excluded.number, previous = scope.number
                RETURNING number, previous
            )
            INSERT INTO journal (number, scope, previous, write_id, server, schema_version, changeset)
            SELECT number, $1, previous, $2, $3, $4, $5 FROM head RETURNING number, previous
            """,
            [scope, write.uuidString, server, schema, encoded]
        )
        transaction.notify(Self.message + sender)
        let link = JournalLink(number: try row.value("number"), previous: try row.value("previous"))
        return JournalRow(link: link, scope: scope, schema: schema, changeset: encoded)
    }

    /// Asks whether a write was made whose commit was not confirmed.
    ///
    /// The locks are free once the transaction of the write has ended. This one changes a row, so that its commit is
    /// confirmed by a standby only after all that was committed before.
    func link(of write: UUID, locks: [String]) async throws -> JournalLink? {
        try await database.write(locks: locks) { transaction in
            let sql = "UPDATE journal_server SET seen_at = now() WHERE name = $1"
            if try transaction.execute(sql, [server]) == 0 { try acknowledge(0, in: transaction) }
            let rows = try transaction.rows(
                "SELECT number, previous FROM journal WHERE write_id = $1",
                [write.uuidString]
            )
            return try rows.map { JournalLink(number: try $0.value("number"), previous: try $0.value("previous")) }
                .first
        }
    }

    /// Records how far this server is.
    func acknowledge(_ position: JournalPosition) async throws {
        try await database.write(locks: ["journal/server/\(server)"]) { try acknowledge(position.first, in: $0) }
    }

    private func acknowledge(_ number: Int64, in transaction: SQLTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO journal_server (name, number, schema_version) VALUES ($1, $2, $3)
            ON CONFLICT (name) DO UPDATE SET
                number = excluded.number, schema_version = excluded.schema_version, seen_at = now()
            """,
            [server, number, schema]
        )
    }

    /// Reserves numbers for rows of a table.
    ///
    /// - Parameter least: the lowest that is free on this server.
    func reserveRowIDs(_ count: Int64, for table: String, from least: Int64) async throws -> Range<Int64> {
        try await database.write(locks: ["journal/rowid/\(table)"]) { transaction in
            let row = try transaction.row(
                """
                INSERT INTO journal_rowid AS block (name, next) VALUES ($1, $2 + $3)
                ON CONFLICT (name) DO UPDATE SET next = greatest(block.next, $2) + $3 RETURNING next
                """,
                [table, least, count]
            )
            let end: Int64 = try row.value("next")
            return end - count..<end
        }
    }

    /// One statement, and so one snapshot, which it returns even without rows.
    private static let fetching = """
        SELECT identity, cut, EXISTS (SELECT 1 FROM journal_snapshot) AS has_snapshot,
            pg_current_snapshot()::text AS snapshot, found,
            number, previous, scope, schema_version, changeset
        FROM journal_identity LEFT JOIN (
            SELECT *, count(*) OVER () AS found, sum(octet_length(changeset)) OVER (ORDER BY number) AS bytes
            FROM (
                SELECT * FROM journal WHERE number >= $1 OR number = ANY($2) ORDER BY number LIMIT $3
            ) AS missed
        ) AS page ON bytes - octet_length(changeset) < $4
        ORDER BY number
        """
}

// The snapshot, and the end of the rows that it has.
extension JournalStore {
    static let snapshotLock = "journal/snapshot"

    /// Whether the rows that are no longer kept are so many that a snapshot takes their place.
    func isLong(_ limits: JournalLimits, in transaction: SQLTransaction) throws -> Bool {
        let sql = """
            SELECT count(*) AS rows, coalesce(sum(octet_length(changeset)), 0)::int8 AS bytes FROM journal
            WHERE written_at < now() - $1 * interval '1 second'
            """
        guard let row = try transaction.rows(sql, [limits.kept]).first else { return false }
        return try row.value("rows") as Int > limits.rows || row.value("bytes") as Int > limits.bytes
    }

    /// Returns the number below which rows are gone.
    func cut(in transaction: SQLTransaction) throws -> Int64 {
        try transaction.row("SELECT cut FROM journal_identity").value("cut")
    }

    /// Calls `receive` with each part of the snapshot, and the schema of the build that wrote it.
    ///
    /// - Throws: `ClusterError`, errors of `receive`.
    func forEachPart(in transaction: SQLTransaction, _ receive: (Data, Int) throws -> Void) throws {
        let sql = "SELECT part, schema_version, changeset FROM journal_snapshot WHERE part > $1 ORDER BY part LIMIT 1"
        var last: Int64 = 0
        while let row = try transaction.rows(sql, [last]).first {
            try receive(row.value("changeset"), row.value("schema_version"))
            last = try row.value("part")
        }
    }

    /// Replaces the snapshot.
    ///
    /// - Parameter parts: calls its argument with each part.
    /// - Throws: `ClusterError`, errors of `parts`.
    func replaceSnapshot(in transaction: SQLTransaction, _ parts: ((Data) throws -> Void) throws -> Void) throws {
        try transaction.execute("DELETE FROM journal_snapshot")
        var count: Int64 = 0
        try parts { part in
            count += 1
            try transaction.execute("INSERT INTO journal_snapshot VALUES ($1, $2, $3)", [count, schema, part])
        }
    }

    /// Adds the rows of a file to an empty journal.
    ///
    /// - Throws: `ClusterError`, errors of `parts`.
    func begin(in transaction: SQLTransaction, _ parts: ((Data) throws -> Void) throws -> Void) throws {
        try replaceSnapshot(in: transaction, parts)
        // A file that has followed the empty journal reads the snapshot as well.
        try transaction.execute("UPDATE journal_identity SET cut = greatest(cut, 1)")
    }

    /// Removes the rows below a number, except those that are kept for servers that were away for a short time.
    func cut(below number: Int64, _ limits: JournalLimits, in transaction: SQLTransaction) throws {
        let sql = """
            UPDATE journal_identity SET cut = greatest(cut, least($1, (
                SELECT min(number) FROM journal WHERE written_at >= now() - $2 * interval '1 second'
            )))
            """
        try transaction.execute(sql, [number, limits.kept])
        try transaction.execute("DELETE FROM journal WHERE number < (SELECT cut FROM journal_identity)")
    }
}

/// How long the journal may become before a snapshot takes the place of its older rows.
package struct JournalLimits: Sendable {
    /// For so many seconds rows are kept: a server that was away for longer reads the snapshot.
    package var kept = 3_600
    /// The most older rows.
    package var rows = 100_000
    /// The most bytes of older rows.
    package var bytes = 64 << 20

    package init() {}
}
