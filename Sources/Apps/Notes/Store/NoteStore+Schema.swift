import GRDB
import Storage

extension NoteStore {
    static let migrations: [SchemaMigration] = [
        SchemaMigration("notes/001 accounts", sql: accounts),
        SchemaMigration("notes/002 notes", sql: notes),
        SchemaMigration("notes/003 clusters", sql: clusters),
        SchemaMigration("notes/004 people", sql: people),
        SchemaMigration("notes/005 volumes", sql: volumes),
        SchemaMigration("notes/006 folded names", migrate: foldNames),
        SchemaMigration("notes/007 people counted", sql: peopleCounted),
        SchemaMigration("notes/008 terms", migrate: enterTerms),
        SchemaMigration("notes/009 long words", migrate: enterPassages),
        SchemaMigration("notes/010 trash", sql: trashTables),
        SchemaMigration("notes/011 usage", sql: usageCounters),
        SchemaMigration("notes/012 attempts", sql: LoginLimits.table),
        SchemaMigration("notes/013 words", migrate: enterWords),
        SchemaMigration("notes/014 parts of signs", migrate: enterTermsAgain),
        SchemaMigration("notes/015 trash by time", sql: trashByTime),
        SchemaMigration("notes/016 notes without a place", sql: withoutPlace),
        SchemaMigration("notes/017 notes with a place", sql: withPlace),
    ]

    private static let accounts = """
        CREATE TABLE notes_account (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name_key TEXT NOT NULL UNIQUE,   -- as names are compared
            name TEXT NOT NULL,              -- as it was registered
            salt BLOB NOT NULL,
            rounds INTEGER NOT NULL,         -- N, r and p of RFC 7914
            block_size INTEGER NOT NULL,
            parallelism INTEGER NOT NULL,
            digest BLOB NOT NULL,
            created INTEGER NOT NULL,        -- milliseconds since 1970 UTC, as all times
            revision INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        """

    // `account` is a column of the text index and a dimension of the R-tree, so that a search reads only the notes of
    // one account, however many others have.
    private static let notes = """
        CREATE TABLE note (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account INTEGER NOT NULL REFERENCES notes_account (id),
            body TEXT NOT NULL,
            opening TEXT NOT NULL,           -- the first characters of the body
            latitude REAL NOT NULL,
            longitude REAL NOT NULL,
            location_name TEXT NOT NULL,
            cell_x INTEGER NOT NULL,         -- of the deepest grid of clusters
            cell_y INTEGER NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            revision INTEGER NOT NULL        -- number of its last change within the account
        ) STRICT;
        CREATE UNIQUE INDEX note_by_revision ON note (account, revision DESC);

        CREATE VIRTUAL TABLE note_text USING fts5 (
            account, body, location_name, content = 'note', content_rowid = 'id',
            tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
        );
        CREATE VIRTUAL TABLE note_position USING rtree (id, west, east, south, north, account_from, account_to);
        """

    // Sums of whole ten-millionths of a degree, which are exact; the sum of the ids of the notes is the id of the
    // note if there is only one.
    private static let clusters = """
        CREATE TABLE note_zoom (zoom INTEGER PRIMARY KEY, shift INTEGER NOT NULL) STRICT;
        WITH RECURSIVE level (zoom) AS (SELECT 0 UNION ALL SELECT zoom + 1 FROM level WHERE zoom < \(MapGrid.deepest))
            INSERT INTO note_zoom SELECT zoom, \(MapGrid.deepest) - zoom FROM level;

        CREATE TABLE note_cell (
            account INTEGER NOT NULL,
            zoom INTEGER NOT NULL,
            x INTEGER NOT NULL,
            y INTEGER NOT NULL,
            notes INTEGER NOT NULL,
            latitudes INTEGER NOT NULL,
            longitudes INTEGER NOT NULL,
            ids INTEGER NOT NULL,
            PRIMARY KEY (account, zoom, x, y)
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER note_clustered AFTER INSERT ON note BEGIN
            \(cellsWith("new."))
        END;
        CREATE TRIGGER note_unclustered AFTER DELETE ON note BEGIN
            \(cellsWithout("old.").joined(separator: "\n"))
        END;
        CREATE TRIGGER note_reclustered AFTER UPDATE OF latitude, longitude ON note
        WHEN new.latitude <> old.latitude OR new.longitude <> old.longitude BEGIN
            \(cellsWithout("old.").joined(separator: "\n"))
            \(cellsWith("new."))
        END;
        """

    /// Returns the statement that adds a note to its cells.
    ///
    /// - Parameter row: begins the names of its columns.
    static func cellsWith(_ row: String) -> String {
        """
        INSERT INTO note_cell (account, zoom, x, y, notes, latitudes, longitudes, ids)
            SELECT \(row)account, zoom, \(row)cell_x >> shift, \(row)cell_y >> shift, 1,
                CAST(round(\(row)latitude * 1e7) AS INTEGER), CAST(round(\(row)longitude * 1e7) AS INTEGER), \(row)id
            FROM note_zoom WHERE true
            ON CONFLICT (account, zoom, x, y) DO UPDATE SET
                notes = notes + 1, latitudes = latitudes + excluded.latitudes,
                longitudes = longitudes + excluded.longitudes, ids = ids + excluded.ids;
        """
    }

    /// Returns the statements that remove a note from its cells.
    static func cellsWithout(_ row: String) -> [String] {
        let count = """
            UPDATE note_cell SET notes = notes - 1, latitudes = latitudes - CAST(round(\(row)latitude * 1e7) AS INTEGER),
                    longitudes = longitudes - CAST(round(\(row)longitude * 1e7) AS INTEGER), ids = ids - \(row)id
                FROM note_zoom WHERE note_cell.account = \(row)account AND note_cell.zoom = note_zoom.zoom
                    AND note_cell.x = \(row)cell_x >> note_zoom.shift AND note_cell.y = \(row)cell_y >> note_zoom.shift;
            """
        let delete = """
            DELETE FROM note_cell WHERE notes = 0 AND (account, zoom, x, y) IN
                (SELECT \(row)account, zoom, \(row)cell_x >> shift, \(row)cell_y >> shift FROM note_zoom);
            """
        return [count, delete]
    }

    // An R-tree groups entries so that its boxes grow least. If one side of every box has the length 0, no box has a
    // volume: a view of eleven notes read half of the tree. That is why an account has the length 0.5.
    private static let volumes = """
        DELETE FROM note_position;
        INSERT INTO note_position SELECT id, longitude, longitude, latitude, latitude, account, account + 0.5 FROM note;
        """

    // The words of notes were made by FTS5 and ordered by the ids of notes, so that a search read all that it found.
    private static func enterTerms(_ db: Database) throws {
        try db.execute(
            sql: """
                DROP TABLE note_text;
                \(terms.creation)
                CREATE TABLE note_passage (
                    rank INTEGER PRIMARY KEY,    -- that of the note in note_term
                    text TEXT NOT NULL           -- what of it is in scripts without spaces
                ) STRICT;
                """
        )
        try indexTexts(db)
    }

    // Signs such as № were part of the word beside them, and forms of alef differed.
    private static func enterTermsAgain(_ db: Database) throws {
        try terms.deleteAll(db)
        try db.execute(sql: "DELETE FROM note_passage")
        try indexTexts(db)
    }

    // Names were compared by their lower case. Accounts whose names are equal by full case folding stay apart.
    private static func foldNames(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE notes_account ADD COLUMN name_folded TEXT NOT NULL DEFAULT ''")
        for row in try Row.fetchAll(db, sql: "SELECT id, name FROM notes_account") {
            let (id, name): (Int64, String) = try (row.value("id"), row.value("name"))
            try db.execute(
                sql: "UPDATE notes_account SET name_folded = ? WHERE id = ?",
                arguments: [UserName.key(of: name), id]
            )
        }
        try db.execute(sql: "CREATE INDEX notes_account_by_folded_name ON notes_account (name_folded)")
    }

    private static let people = """
        CREATE TABLE notes_people (
            one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
            snapshot INTEGER NOT NULL,       -- counts how often people were fetched
            fetched INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE notes_person (
            id INTEGER PRIMARY KEY,          -- number of the row at the service; another person in the next snapshot
            first_name TEXT,
            last_name TEXT,
            sort_first TEXT NOT NULL,
            sort_last TEXT NOT NULL,
            email TEXT,
            gender TEXT,
            avatar_url TEXT
        ) STRICT;
        CREATE INDEX notes_person_by_name ON notes_person (sort_first, sort_last, id);
        """

    // Cursors have the sort keys in them, so that these are cut.
    private static let peopleCounted = """
        ALTER TABLE notes_people ADD COLUMN people INTEGER NOT NULL DEFAULT 0; -- of the snapshot
        UPDATE notes_people SET people = (SELECT count(*) FROM notes_person);
        UPDATE notes_person SET sort_first = substr(sort_first, 1, 200), sort_last = substr(sort_last, 1, 200)
            WHERE length(sort_first) > 200 OR length(sort_last) > 200;
        """

    // Each view of the map that leaves these notes out counts them. The index has all columns of the count, so that it
    // reads no row: texts make rows long.
    private static let withoutPlace = """
        CREATE INDEX note_without_place ON note (account, latitude, longitude, location_name)
            WHERE latitude = 0 AND longitude = 0 AND location_name = 'Unknown location';
        """

    // The last saved of them is the centre of each view of the map, however many without a place were saved later.
    private static let withPlace = """
        CREATE INDEX note_with_place ON note (account, revision DESC)
            WHERE latitude <> 0 OR longitude <> 0 OR location_name <> 'Unknown location';
        """
}
