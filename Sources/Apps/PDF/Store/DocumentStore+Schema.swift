package import Database

extension DocumentStore {
    /// The migrations of the tables.
    package static let migrations: [SchemaMigration] = [
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
        // The list says how many documents there are, and how many pages each has.
        SchemaMigration(
            "pdf/003 counted",
            sql: """
                ALTER TABLE pdf_profile ADD COLUMN saved INTEGER NOT NULL DEFAULT 0; -- saved documents
                INSERT INTO pdf_profile (profile, seen, revision, saved)
                    SELECT profile, 0, 0, count(*) FROM pdf_document WHERE draft_until IS NULL GROUP BY profile
                    ON CONFLICT (profile) DO UPDATE SET saved = excluded.saved;
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
    ]
}
