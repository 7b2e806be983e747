package import Database
import GRDB

extension SessionStore {
    /// The table of sessions.
    package static let migrations: [SchemaMigration] = [
        SchemaMigration("sessions/001 session") { db in
            try db.execute(
                sql: """
                    CREATE TABLE session (
                        token_hash BLOB NOT NULL PRIMARY KEY,
                        app TEXT NOT NULL,
                        kind TEXT NOT NULL CHECK (kind IN ('user', 'guest')),
                        account TEXT NOT NULL,
                        name TEXT,
                        created_at INTEGER NOT NULL -- milliseconds since 1970 UTC
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX session_account ON session (app, account);
                    """
            )
        },
        SchemaMigration(
            "sessions/002 uses",
            sql: """
                ALTER TABLE session ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0; -- milliseconds since 1970 UTC
                UPDATE session SET used_at = unixepoch() * 1000;
                CREATE INDEX session_by_use ON session (app, used_at);
                """
        ),
        SchemaMigration(
            "sessions/003 seeded",
            sql: """
                ALTER TABLE session ADD COLUMN seeded INTEGER NOT NULL DEFAULT 0; -- whether a test has chosen the token
                CREATE INDEX session_seeded ON session (seeded) WHERE seeded = 1;
                """
        ),
    ]
}
