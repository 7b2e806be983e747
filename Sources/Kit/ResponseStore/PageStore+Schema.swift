import Database

extension PageStore {
    // Each row has the account, too, so that a key, or all keys below a folder, are found by one index on all pages.
    static let migrations = [
        SchemaMigration(
            "storage/003 pages",
            sql: """
                CREATE TABLE page (
                    id INTEGER PRIMARY KEY,
                    account TEXT NOT NULL,
                    screen TEXT NOT NULL,
                    query TEXT NOT NULL,
                    page_offset INTEGER NOT NULL,
                    page_limit INTEGER NOT NULL,
                    total INTEGER,
                    has_more INTEGER NOT NULL,
                    fetched_at INTEGER NOT NULL,    -- milliseconds since 1970 UTC, as all times
                    size INTEGER NOT NULL,          -- bytes that deleting it would free, about
                    last_used INTEGER NOT NULL,
                    UNIQUE (account, screen, query, page_offset, page_limit)
                ) STRICT;

                CREATE INDEX page_by_last_use ON page (last_used, size);

                CREATE TABLE page_row (
                    page_id INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    account TEXT NOT NULL,
                    row_key TEXT NOT NULL,
                    PRIMARY KEY (page_id, position)
                ) STRICT, WITHOUT ROWID;

                CREATE INDEX page_row_by_key ON page_row (account, row_key);
                """
        )
    ]

    /// After the other tables, because eviction has changed the table in between.
    static let changeTime = [
        SchemaMigration(
            "storage/011 page changes",
            sql: """
                ALTER TABLE page ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0; -- when keys or total last changed
                UPDATE page SET changed_at = fetched_at;
                """
        )
    ]
}
