import SharedStore

extension SharedShips {
    /// The tables that servers share. Texts are compared byte by byte, as SQLite does.
    static let migrations = [SharedMigration("ships/001 ships", sql: tables)]

    private static let tables = """
        CREATE TABLE ship (
            id text COLLATE "C" PRIMARY KEY,
            name text NOT NULL,
            sort_key text COLLATE "C" NOT NULL,
            type text,
            roles text NOT NULL,                       -- JSON array of texts
            active boolean NOT NULL,
            year_built int8,
            home_port text,
            mass_kg float8,
            image_url text,
            listed boolean NOT NULL,                   -- the API's last response had it
            from_snapshot boolean NOT NULL,            -- known from the bundled snapshot only
            added_revision int8 NOT NULL,
            changed_revision int8 NOT NULL,            -- of any change, removal included
            removed_revision int8
        );
        CREATE INDEX ship_by_name ON ship (sort_key, id) WHERE removed_revision IS NULL;
        CREATE INDEX ship_by_change ON ship (changed_revision, id);

        CREATE TABLE ship_of_account (
            account text COLLATE "C" NOT NULL,
            ship_id text COLLATE "C" NOT NULL,
            revision int8 NOT NULL,
            hidden boolean NOT NULL,                   -- true: deleted by this account; false: restored
            PRIMARY KEY (account, ship_id, revision)
        );
        CREATE INDEX ship_of_account_by_revision ON ship_of_account (account, revision, ship_id);

        CREATE TABLE ship_revision (
            one int8 PRIMARY KEY CHECK (one = 1),
            last int8 NOT NULL,                        -- last number given out
            content int8 NOT NULL,                     -- last number that concerned every account
            present int8 NOT NULL DEFAULT 0,           -- ships that are not removed
            listed_at int8 NOT NULL DEFAULT 0          -- when the API listed them so; milliseconds since 1970 UTC
        );
        INSERT INTO ship_revision (one, last, content) VALUES (1, 0, 0);
        """
}
