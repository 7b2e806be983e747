import Storage

extension DiskStore {
    /// The tables of offline contents. Contents belong to rows of these tables, not to stored responses: eviction,
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

    /// Separates the rows of users, which several servers replicate, from the data that each server has by itself.
    static let separation = """
        CREATE TABLE disk_cache (
            account TEXT NOT NULL PRIMARY KEY,
            linked_at INTEGER NOT NULL, -- the login of the account that all of it belongs to
            epoch INTEGER NOT NULL, -- the change of the account that it follows
            total INTEGER NOT NULL, -- bytes, as the API has last told, as the next two
            used INTEGER NOT NULL,
            trash INTEGER NOT NULL,
            revision INTEGER NOT NULL, -- one more with every change of what screens show
            changed_at INTEGER NOT NULL -- when the content of any file was received
        ) STRICT, WITHOUT ROWID;
        INSERT INTO disk_cache
            SELECT account, linked_at, epoch, total, used, trash, revision, changed_at FROM disk_account;
        ALTER TABLE disk_account RENAME TO disk_account_before;
        CREATE TABLE disk_account (
            account TEXT NOT NULL PRIMARY KEY, -- uid at Yandex
            name TEXT, -- login there
            linked_at INTEGER NOT NULL, -- milliseconds since 1970 UTC, as all times
            epoch INTEGER NOT NULL, -- random at first, one more with every change made through Larder
            marks INTEGER NOT NULL -- the number of the last mark
        ) STRICT, WITHOUT ROWID;
        INSERT INTO disk_account
            SELECT account, name, linked_at, epoch,
                ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'disk_offline'), 0)
            FROM disk_account_before;
        DROP TABLE disk_account_before;

        ALTER TABLE disk_login RENAME TO disk_login_before;
        CREATE TABLE disk_login (
            account TEXT NOT NULL,
            session TEXT NOT NULL, -- identity of the session
            token TEXT NOT NULL, -- name of the sealed token; sessions of an earlier version share one
            rejected INTEGER NOT NULL, -- 1: the upstream refused the token
            created_at INTEGER NOT NULL,
            PRIMARY KEY (account, session)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO disk_login SELECT account, session, token, rejected, created_at FROM disk_login_before;
        DROP TABLE disk_login_before;
        CREATE INDEX disk_login_by_account ON disk_login (account, rejected, created_at);

        CREATE TABLE disk_offline_check (
            account TEXT NOT NULL,
            number INTEGER NOT NULL, -- of the mark
            admitted INTEGER NOT NULL DEFAULT 0, -- 1: it was found to fit into the budget
            checked_at INTEGER, -- when it was last compared with the API as a whole
            due_at INTEGER NOT NULL, -- when it is to be compared next
            attempts INTEGER NOT NULL DEFAULT 0, -- failed comparisons in a row
            failure TEXT,
            PRIMARY KEY (account, number)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO disk_offline_check
            SELECT account, number, admitted, checked_at, due_at, attempts, failure FROM disk_offline;
        ALTER TABLE disk_offline RENAME TO disk_offline_before;
        CREATE TABLE disk_offline (
            account TEXT NOT NULL,
            number INTEGER NOT NULL, -- stays when its file is moved; the latest has the highest
            path TEXT NOT NULL, -- what the user has marked
            kind TEXT NOT NULL CHECK (kind IN ('file', 'dir')),
            marked_at INTEGER NOT NULL,
            PRIMARY KEY (account, number),
            UNIQUE (account, path)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO disk_offline SELECT account, number, path, kind, marked_at FROM disk_offline_before;
        DROP TABLE disk_offline_before;
        CREATE INDEX disk_offline_check_by_due ON disk_offline_check (due_at);

        -- A new file has no rows of users.
        DELETE FROM disk_installation WHERE onboarding_seen = 0;
        INSERT INTO user_secret SELECT name, sealed FROM sealed_secret WHERE substr(name, 1, 5) = 'disk/';
        DELETE FROM sealed_secret WHERE substr(name, 1, 5) = 'disk/';
        """
}
