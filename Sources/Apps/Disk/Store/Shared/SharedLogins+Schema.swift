import AppInterface
import SharedStore

extension SharedLogins {
    /// The tables that servers share. Texts are compared byte by byte, as SQLite does.
    static let migrations = SharedSeal.migrations + [SharedMigration("disk/001 logins", sql: tables)]

    private static let tables = """
        CREATE TABLE disk_installation (
            one int8 PRIMARY KEY CHECK (one = 1),
            onboarding_seen boolean NOT NULL
        );
        INSERT INTO disk_installation (one, onboarding_seen) VALUES (1, false);

        CREATE TABLE disk_account (
            account text COLLATE "C" PRIMARY KEY, -- uid at Yandex
            name text,                            -- login there
            linked_at int8 NOT NULL,              -- milliseconds since 1970 UTC, as all times
            total int8 NOT NULL,                  -- bytes at the last login, as the next two
            used int8 NOT NULL,
            trash int8 NOT NULL,
            epoch int8 NOT NULL                   -- random at first, one more with every change by a server
        );

        CREATE TABLE disk_login (
            session text COLLATE "C" PRIMARY KEY, -- identity of the session
            account text COLLATE "C" NOT NULL REFERENCES disk_account (account) ON DELETE CASCADE,
            token text COLLATE "C" NOT NULL,      -- name of the sealed token
            rejected boolean NOT NULL,            -- the upstream refused the token
            created_at int8 NOT NULL
        );
        CREATE INDEX disk_login_by_account ON disk_login (account);
        CREATE INDEX disk_login_by_token ON disk_login (token);

        CREATE TABLE disk_authorization (
            state text COLLATE "C" PRIMARY KEY,   -- hash of it
            created_at int8 NOT NULL
        );
        CREATE INDEX disk_authorization_by_time ON disk_authorization (created_at);

        -- What one server does at a time, until a time of the database's clock.
        CREATE TABLE disk_lease (
            name text COLLATE "C" PRIMARY KEY,
            holder text COLLATE "C" NOT NULL,
            until int8 NOT NULL
        );
        """
}
