import GRDB

extension ResponseStore {
    // The body has a table of its own, so that a new use or a validation rewrites a short row and not up to 100 KB. The
    // totals are kept by triggers, so that they are right after any deletion and cost nothing to read.
    static let migrations = [
        SchemaMigration(
            "storage/002 responses",
            sql: """
                CREATE TABLE stored_response (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    upstream TEXT NOT NULL,
                    url TEXT NOT NULL,
                    method TEXT NOT NULL,
                    credential BLOB NOT NULL,       -- keyed hash; empty: shared
                    varying BLOB NOT NULL,          -- request fields that Vary nominates, in canonical form
                    status INTEGER NOT NULL,
                    reason TEXT NOT NULL,
                    header BLOB NOT NULL,
                    request_time INTEGER NOT NULL,  -- milliseconds since 1970 UTC, as all times
                    response_time INTEGER NOT NULL,
                    invalidated INTEGER NOT NULL DEFAULT 0,
                    size INTEGER NOT NULL,          -- bytes that deleting it would free, about
                    last_used INTEGER NOT NULL,
                    blob_id INTEGER REFERENCES blob (id),
                    UNIQUE (upstream, url, method, credential, varying)
                ) STRICT;

                CREATE INDEX stored_response_by_last_use ON stored_response (last_used, size);
                CREATE INDEX stored_response_by_credential ON stored_response (credential) WHERE credential <> x'';
                CREATE UNIQUE INDEX stored_response_by_blob ON stored_response (blob_id) WHERE blob_id IS NOT NULL;

                CREATE TABLE stored_body (
                    response_id INTEGER PRIMARY KEY REFERENCES stored_response (id) ON DELETE CASCADE,
                    bytes BLOB NOT NULL
                ) STRICT;

                CREATE TABLE stored_response_total (
                    upstream TEXT PRIMARY KEY,
                    responses INTEGER NOT NULL,
                    bytes INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE TRIGGER stored_response_inserted AFTER INSERT ON stored_response BEGIN
                    INSERT INTO stored_response_total (upstream, responses, bytes) VALUES (new.upstream, 1, new.size)
                        ON CONFLICT (upstream) DO UPDATE SET responses = responses + 1, bytes = bytes + excluded.bytes;
                END;

                CREATE TRIGGER stored_response_resized AFTER UPDATE OF size ON stored_response WHEN new.size <> old.size BEGIN
                    UPDATE stored_response_total SET bytes = bytes + new.size - old.size WHERE upstream = new.upstream;
                END;

                CREATE TRIGGER stored_response_deleted AFTER DELETE ON stored_response BEGIN
                    UPDATE stored_response_total SET responses = responses - 1, bytes = bytes - old.size WHERE upstream = old.upstream;
                    DELETE FROM blob WHERE id = old.blob_id;
                END;

                CREATE TRIGGER stored_response_took_other_blob AFTER UPDATE OF blob_id ON stored_response
                WHEN old.blob_id IS NOT NULL AND old.blob_id IS NOT new.blob_id BEGIN
                    DELETE FROM blob WHERE id = old.blob_id;
                END;
                """
        )
    ]

    /// After the other tables, because eviction has changed the table in between.
    static let contentTime = [
        SchemaMigration(
            "storage/006 content time",
            sql: """
                -- When this content was received; a 304 leaves it.
                ALTER TABLE stored_response ADD COLUMN content_time INTEGER NOT NULL DEFAULT 0;
                UPDATE stored_response SET content_time = response_time;
                """
        )
    ]
}

/// The tables of cached responses and of page lists.
package enum CacheTables {
    /// The migrations of the tables, in their order. The composition root passes them to `LarderDatabase` before
    /// those of the apps.
    package static let migrations =
        ResponseStore.migrations + PageStore.migrations + CacheEviction.migrations + ResponseStore.contentTime
        + PageStore.changeTime
        + ResponseStore.parts
}

/// Signals each committed transaction that stored something cacheable. Recorded uses do not count.
final class StoreSignal: TransactionObserver {
    private let continuation: AsyncStream<Void>.Continuation
    private var hasStored = false

    init(_ continuation: AsyncStream<Void>.Continuation) {
        self.continuation = continuation
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        switch eventKind {
        case .insert(let table): Self.tables.contains(table)
        case .update(let table, let columns): Self.tables.contains(table) && columns.contains("size")
        case .delete: false
        }
    }

    func databaseDidChange(with event: DatabaseEvent) { hasStored = true }

    func databaseDidCommit(_ db: Database) {
        if hasStored { continuation.yield() }
        hasStored = false
    }

    func databaseDidRollback(_ db: Database) { hasStored = false }

    private static let tables: Set<String> = ["stored_response", "page"]
}

extension LarderDatabase {
    /// Returns a stream with an element after each transaction that stored responses or page lists. Elements that were
    /// not consumed yet are merged into one. For one consumer, which ends it by ending its own task.
    package func stores() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        pool.add(transactionObserver: StoreSignal(continuation), extent: .databaseLifetime)
        return stream
    }
}
