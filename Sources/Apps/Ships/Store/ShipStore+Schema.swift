import Storage

extension ShipStore {
    /// The app's tables. A migration is never edited once it has been released.
    static let migrations: [SchemaMigration] = [
        SchemaMigration(
            "ships/001 ships",
            sql: """
                CREATE TABLE ship (
                    id TEXT NOT NULL PRIMARY KEY,
                    name TEXT NOT NULL,
                    sort_key TEXT NOT NULL,
                    type TEXT,
                    roles TEXT NOT NULL, -- JSON array of texts
                    active INTEGER NOT NULL,
                    year_built INTEGER,
                    home_port TEXT,
                    mass_kg REAL,
                    image_url TEXT,
                    listed INTEGER NOT NULL, -- the API's last answer had it
                    from_snapshot INTEGER NOT NULL, -- known from the bundled snapshot only
                    added_revision INTEGER NOT NULL,
                    changed_revision INTEGER NOT NULL, -- of any change, removal included
                    removed_revision INTEGER
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX ship_by_name ON ship (sort_key, id) WHERE removed_revision IS NULL;
                CREATE INDEX ship_by_change ON ship (changed_revision);

                CREATE TABLE ship_of_account (
                    account TEXT NOT NULL,
                    ship_id TEXT NOT NULL,
                    revision INTEGER NOT NULL,
                    hidden INTEGER NOT NULL, -- 1: deleted by this account; 0: restored
                    PRIMARY KEY (account, ship_id, revision)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX ship_of_account_by_revision ON ship_of_account (account, revision);

                CREATE TABLE ship_revision (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    last INTEGER NOT NULL, -- last number given out
                    content INTEGER NOT NULL -- last number that concerned every account
                ) STRICT;
                INSERT INTO ship_revision (one, last, content) VALUES (1, 0, 0);
                """
        ),
        // Responses stored since are pinned when they are stored (`Resource.isSourceOfRows`).
        SchemaMigration(
            "ships/002 list pinned",
            sql: """
                UPDATE stored_response SET pinned = 1
                WHERE upstream = 'spacex' AND method = 'GET' AND url LIKE '%/v4/ships'
                """
        ),
        // Every page says how many ships there are. A ship that the API lists again replaces its row, which fires no
        // delete trigger: as a removed one it was not counted.
        SchemaMigration(
            "ships/003 counted",
            sql: """
                ALTER TABLE ship_revision ADD COLUMN present INTEGER NOT NULL DEFAULT 0;
                UPDATE ship_revision SET present = (SELECT count(*) FROM ship WHERE removed_revision IS NULL);
                CREATE TRIGGER ship_came AFTER INSERT ON ship WHEN new.removed_revision IS NULL BEGIN
                    UPDATE ship_revision SET present = present + 1;
                END;
                CREATE TRIGGER ship_removed AFTER UPDATE OF removed_revision ON ship BEGIN
                    UPDATE ship_revision
                    SET present = present + (new.removed_revision IS NULL) - (old.removed_revision IS NULL);
                END;
                CREATE TRIGGER ship_deleted AFTER DELETE ON ship WHEN old.removed_revision IS NULL BEGIN
                    UPDATE ship_revision SET present = present - 1;
                END;
                """
        ),
        // Cursors have the sort keys in them, so that these are cut.
        SchemaMigration(
            "ships/004 sort keys cut",
            sql: "UPDATE ship SET sort_key = substr(sort_key, 1, 200) WHERE length(sort_key) > 200"
        ),
        // Of several servers: the list that was taken over last. SQLite's sessions take a value that is not
        // stored for NULL, so the row is written again.
        SchemaMigration(
            "ships/005 listed at",
            sql: """
                ALTER TABLE ship_revision ADD COLUMN listed_at INTEGER NOT NULL DEFAULT 0;
                UPDATE ship_revision SET listed_at = 0;
                """
        ),
    ]
}
