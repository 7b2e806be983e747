import Database

extension DiskStore {
    /// The tables of what is kept offline. Contents belong to rows of these tables, not to stored responses: eviction,
    /// purges and a reset of the cache do not know them.
    static let offlineMigration = SchemaMigration(
        "disk/004 offline",
        sql: """
            ALTER TABLE disk_item ADD COLUMN sha256 TEXT;

            CREATE TABLE disk_offline (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                account TEXT NOT NULL,
                path TEXT NOT NULL, -- what the user has marked
                kind TEXT NOT NULL CHECK (kind IN ('file', 'dir')),
                marked_at INTEGER NOT NULL,
                admitted INTEGER NOT NULL DEFAULT 0, -- 1: it was found to fit into the budget
                checked_at INTEGER, -- when it was last compared with the API as a whole
                due_at INTEGER NOT NULL, -- when it is to be compared next
                attempts INTEGER NOT NULL DEFAULT 0, -- failed comparisons in a row
                failure TEXT,
                UNIQUE (account, path)
            ) STRICT;
            CREATE INDEX disk_offline_by_due ON disk_offline (due_at);

            CREATE TABLE disk_offline_entry (
                account TEXT NOT NULL,
                path TEXT NOT NULL, -- a marked file or folder, or one below a marked folder
                parent TEXT NOT NULL,
                kind TEXT NOT NULL CHECK (kind IN ('file', 'dir')),
                listed_at INTEGER, -- of a folder: when all of its content was last listed
                version TEXT, -- of a file, as the next: the content that is wanted
                size INTEGER,
                admitted INTEGER NOT NULL DEFAULT 0, -- 1: bytes of the budget are reserved for it
                due_at INTEGER, -- when it is to be fetched; NULL: nothing to do
                attempts INTEGER NOT NULL DEFAULT 0,
                failure TEXT,
                kept_version TEXT, -- the content that is stored
                kept_at INTEGER,
                blob_id INTEGER REFERENCES blob (id),
                length INTEGER,
                PRIMARY KEY (account, path)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX disk_offline_entry_by_parent ON disk_offline_entry (account, parent);
            CREATE INDEX disk_offline_entry_by_due ON disk_offline_entry (due_at, account, path)
                WHERE due_at IS NOT NULL AND admitted = 1;
            CREATE UNIQUE INDEX disk_offline_entry_by_blob ON disk_offline_entry (blob_id) WHERE blob_id IS NOT NULL;

            CREATE TRIGGER disk_offline_entry_deleted AFTER DELETE ON disk_offline_entry
            WHEN old.blob_id IS NOT NULL BEGIN
                DELETE FROM blob WHERE id = old.blob_id;
            END;
            CREATE TRIGGER disk_offline_entry_took_other_blob AFTER UPDATE OF blob_id ON disk_offline_entry
            WHEN old.blob_id IS NOT NULL AND old.blob_id IS NOT new.blob_id BEGIN
                DELETE FROM blob WHERE id = old.blob_id;
            END;
            """
    )
}
