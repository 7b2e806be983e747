import Cluster
import Concurrency
import GRDB
import Screens
import Storage

extension DocumentStore {
    static let migrations: [SchemaMigration] = [
        SchemaMigration(
            "pdf/001 documents",
            sql: """
                CREATE TABLE pdf_profile (
                    profile TEXT NOT NULL PRIMARY KEY,
                    seen INTEGER NOT NULL, -- the welcome was
                    revision INTEGER NOT NULL -- changes of the list of saved documents
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE pdf_document (
                    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    profile TEXT NOT NULL,
                    name TEXT NOT NULL,
                    created INTEGER NOT NULL,
                    draft_until INTEGER, -- NULL: saved
                    blob_id INTEGER NOT NULL REFERENCES blob (id),
                    length INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX pdf_document_by_age ON pdf_document (profile, created DESC, sequence DESC)
                    WHERE draft_until IS NULL;
                CREATE INDEX pdf_document_by_end ON pdf_document (draft_until) WHERE draft_until IS NOT NULL;

                CREATE TABLE pdf_page (
                    document INTEGER NOT NULL REFERENCES pdf_document (sequence) ON DELETE CASCADE,
                    number INTEGER NOT NULL, -- from 1
                    id TEXT NOT NULL,
                    kind TEXT NOT NULL,
                    width REAL NOT NULL,
                    height REAL NOT NULL,
                    rotation INTEGER NOT NULL,
                    content TEXT NOT NULL,
                    PRIMARY KEY (document, number)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX pdf_page_by_content ON pdf_page (content);

                CREATE TRIGGER pdf_document_deleted AFTER DELETE ON pdf_document BEGIN
                    DELETE FROM blob WHERE id = old.blob_id;
                END;
                CREATE TRIGGER pdf_document_took_other_blob AFTER UPDATE OF blob_id ON pdf_document
                WHEN old.blob_id <> new.blob_id BEGIN
                    DELETE FROM blob WHERE id = old.blob_id;
                END;

                CREATE TABLE pdf_thumbnail (
                    content TEXT NOT NULL,
                    rotation INTEGER NOT NULL,
                    width INTEGER NOT NULL,
                    type TEXT NOT NULL,
                    last_used INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    bytes BLOB NOT NULL,
                    PRIMARY KEY (content, rotation, width)
                ) STRICT;
                CREATE INDEX pdf_thumbnail_by_last_use ON pdf_thumbnail (last_used, size);
                """
        ),
        SchemaMigration(
            "pdf/002 versions",
            sql: "ALTER TABLE pdf_document ADD COLUMN version INTEGER NOT NULL DEFAULT 1; -- grows with every change"
        ),
        // Counts of documents and pages, for the list.
        SchemaMigration(
            "pdf/003 counted",
            sql: """
                ALTER TABLE pdf_profile ADD COLUMN saved INTEGER NOT NULL DEFAULT 0; -- saved documents
                INSERT INTO pdf_profile (profile, seen, revision, saved)
                    SELECT profile, 0, 0, count(*) FROM pdf_document WHERE draft_until IS NULL GROUP BY profile
                    ON CONFLICT (profile) DO UPDATE SET saved = excluded.saved;
                \(savedTriggers)
                CREATE TRIGGER pdf_document_removed AFTER DELETE ON pdf_document WHEN old.draft_until IS NULL BEGIN
                    UPDATE pdf_profile SET saved = saved - 1 WHERE profile = old.profile;
                END;
                ALTER TABLE pdf_document ADD COLUMN page_count INTEGER NOT NULL DEFAULT 0;
                UPDATE pdf_document
                    SET page_count = (SELECT count(*) FROM pdf_page WHERE document = pdf_document.sequence);
                """
        ),
        SchemaMigration("pdf/004 names", migrate: indexNames),
        SchemaMigration("pdf/005 trash", sql: trashTables),
        SchemaMigration("pdf/006 usage", sql: usageCounters),
        SchemaMigration("pdf/007 files", sql: filesWithoutKey),
        SchemaMigration("pdf/008 words", migrate: enterWords),
        SchemaMigration("pdf/009 versions", sql: versionTables),
    ]

    /// The rows of several servers. Names and pictures of pages are of each of them, and so are files that it has read.
    static let replicated = JournalTables(
        replicated: ["pdf_profile", "pdf_document", "pdf_page", "pdf_version"],
        local: ["pdf_thumbnail", "pdf_word"],
        virtual: ["pdf_term"],
        derivations: ["pdf_document": indexName, "pdf_page": ThumbnailStore.forgetPage],
        contents: ["pdf_document": "blob_id", "pdf_version": "blob_id"]
    )

    /// Documents whose files need not be in the database: another server may have them. All triggers and indexes are
    /// dropped with the former table.
    private static let filesWithoutKey = """
        CREATE TABLE pdf_document_next (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            profile TEXT NOT NULL,
            version INTEGER NOT NULL DEFAULT 1,     -- grows with every change
            name TEXT NOT NULL,
            folded TEXT NOT NULL DEFAULT '',        -- the name as searches compare it
            created INTEGER NOT NULL,
            draft_until INTEGER,                    -- NULL: saved
            trashed INTEGER,                        -- when it was moved to the trash; NULL: it was not
            blob_id INTEGER NOT NULL,               -- its file
            length INTEGER NOT NULL,
            page_count INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO pdf_document_next
            SELECT sequence, id, profile, version, name, folded, created, draft_until, trashed, blob_id, length,
                page_count
            FROM pdf_document ORDER BY sequence;
        INSERT INTO sqlite_sequence (name, seq)
            SELECT 'pdf_document_next', 0 WHERE NOT EXISTS (
                SELECT 1 FROM sqlite_sequence WHERE name = 'pdf_document_next'
            );
        UPDATE sqlite_sequence
            SET seq = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pdf_document'), 0)
            WHERE name = 'pdf_document_next';
        DROP TABLE pdf_document;
        ALTER TABLE pdf_document_next RENAME TO pdf_document;
        CREATE INDEX pdf_document_by_file ON pdf_document (blob_id);
        CREATE INDEX pdf_document_by_age ON pdf_document (profile, created DESC, sequence DESC)
            WHERE draft_until IS NULL AND trashed IS NULL;
        CREATE INDEX pdf_document_by_end ON pdf_document (draft_until) WHERE draft_until IS NOT NULL;
        \(trashIndexes)
        CREATE TRIGGER pdf_document_deleted AFTER DELETE ON pdf_document BEGIN
            DELETE FROM blob WHERE id = old.blob_id;
        END;
        CREATE TRIGGER pdf_document_took_other_blob AFTER UPDATE OF blob_id ON pdf_document
        WHEN old.blob_id <> new.blob_id BEGIN
            DELETE FROM blob WHERE id = old.blob_id;
        END;
        \(savedTriggers)
        \(trashTriggers)
        \(usageTriggers)
        """

    private static let savedTriggers = """
        CREATE TRIGGER pdf_document_inserted AFTER INSERT ON pdf_document WHEN new.draft_until IS NULL BEGIN
            INSERT INTO pdf_profile (profile, seen, revision, saved) VALUES (new.profile, 0, 0, 1)
                ON CONFLICT (profile) DO UPDATE SET saved = saved + 1;
        END;
        CREATE TRIGGER pdf_document_saved AFTER UPDATE OF draft_until ON pdf_document
        WHEN (old.draft_until IS NULL) <> (new.draft_until IS NULL) BEGIN
            INSERT INTO pdf_profile (profile, seen, revision, saved)
                VALUES (new.profile, 0, 0, iif(new.draft_until IS NULL, 1, -1))
                ON CONFLICT (profile) DO UPDATE SET saved = saved + excluded.saved;
        END;
        """

    /// Bytes of a document beside its file: its row, those of its pages, and the end of a block of the disk.
    static let bytesBeside = 4096

    /// The stored bytes of each profile, counted by triggers: a quota is checked with each write.
    static let usageCounters = """
        ALTER TABLE pdf_profile ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of all its documents
        ALTER TABLE pdf_profile ADD COLUMN draft_bytes INTEGER NOT NULL DEFAULT 0; -- those of them that are drafts
        ALTER TABLE pdf_profile ADD COLUMN trash_bytes INTEGER NOT NULL DEFAULT 0; -- those of them in the trash
        INSERT INTO pdf_profile (profile, seen, revision, bytes, draft_bytes, trash_bytes)
            SELECT profile, 0, 0, sum(\(size(of: "pdf_document"))), sum(\(draft(of: "pdf_document"))),
                sum(\(trash(of: "pdf_document")))
            FROM pdf_document WHERE true GROUP BY profile
            ON CONFLICT (profile) DO UPDATE SET
                bytes = excluded.bytes, draft_bytes = excluded.draft_bytes, trash_bytes = excluded.trash_bytes;

        \(usageTriggers)
        """
    private static let usageTriggers = """
        CREATE TRIGGER pdf_document_stored AFTER INSERT ON pdf_document BEGIN
            INSERT INTO pdf_profile (profile, seen, revision, bytes, draft_bytes)
                VALUES (new.profile, 0, 0, \(size(of: "new")), \(draft(of: "new")))
                ON CONFLICT (profile) DO UPDATE SET
                    bytes = bytes + excluded.bytes, draft_bytes = draft_bytes + excluded.draft_bytes;
        END;
        CREATE TRIGGER pdf_document_resized AFTER UPDATE OF length, draft_until, trashed ON pdf_document BEGIN
            UPDATE pdf_profile SET
                bytes = bytes + \(size(of: "new")) - \(size(of: "old")),
                draft_bytes = draft_bytes + \(draft(of: "new")) - \(draft(of: "old")),
                trash_bytes = trash_bytes + \(trash(of: "new")) - \(trash(of: "old"))
            WHERE profile = new.profile;
        END;
        CREATE TRIGGER pdf_document_unstored AFTER DELETE ON pdf_document BEGIN
            UPDATE pdf_profile SET
                bytes = bytes - \(size(of: "old")), draft_bytes = draft_bytes - \(draft(of: "old")),
                trash_bytes = trash_bytes - \(trash(of: "old"))
            WHERE profile = old.profile;
        END;
        """

    func usage(profile: String) throws -> StorageUsage {
        try users.read { try Self.usage(of: profile, $0) }
    }

    static func usage(of profile: String, _ db: Database) throws -> StorageUsage {
        try counts(of: profile, db).usage
    }

    private static func size(of row: String) -> String { "(\(row).length + \(bytesBeside))" }
    private static func draft(of row: String) -> String { "iif(\(row).draft_until IS NULL, 0, \(size(of: row)))" }
    private static func trash(of row: String) -> String { "iif(\(row).trashed IS NULL, 0, \(size(of: row)))" }

    func isWelcomeSeen(profile: String) throws -> Bool {
        try users.read { db in
            try Bool.fetchOne(
                try db.cachedStatement(sql: "SELECT seen FROM pdf_profile WHERE profile = ?"),
                arguments: [profile]
            ) ?? false
        }
    }

    func setWelcomeSeen(_ isSeen: Bool, profile: String) async throws {
        defer { changes[profile].bump() }
        try await users.write(scope: Self.scope(profile)) { db in
            try db.execute(
                sql: """
                    INSERT INTO pdf_profile (profile, seen, revision) VALUES (?, ?, 0)
                    ON CONFLICT (profile) DO UPDATE SET seen = excluded.seen
                    """,
                arguments: [profile, isSeen]
            )
        }
    }
}
