import Foundation
import GRDB
import Screens
import Storage

extension NoteStore {
    /// The trash. Triggers keep its count.
    static let trashTables = """
        CREATE TABLE note_trash (
            id INTEGER PRIMARY KEY,          -- that of the note, which no other one gets (AUTOINCREMENT)
            account INTEGER NOT NULL REFERENCES notes_account (id),
            body TEXT NOT NULL,
            opening TEXT NOT NULL,
            latitude REAL NOT NULL,
            longitude REAL NOT NULL,
            location_name TEXT NOT NULL,
            cell_x INTEGER NOT NULL,
            cell_y INTEGER NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            revision INTEGER NOT NULL,       -- that of the note; it gets it again
            deleted INTEGER NOT NULL,
            deletion INTEGER NOT NULL        -- the account's revision that the deletion has made
        ) STRICT;
        CREATE UNIQUE INDEX note_trash_by_deletion ON note_trash (account, deletion DESC);
        CREATE INDEX note_trash_by_age ON note_trash (deleted);

        ALTER TABLE notes_account ADD COLUMN trashed INTEGER NOT NULL DEFAULT 0; -- notes in the trash
        CREATE TRIGGER note_trash_added AFTER INSERT ON note_trash BEGIN
            UPDATE notes_account SET trashed = trashed + 1 WHERE id = new.account;
        END;
        CREATE TRIGGER note_trash_removed AFTER DELETE ON note_trash BEGIN
            UPDATE notes_account SET trashed = trashed - 1 WHERE id = old.account;
        END;
        """

    /// Notes of an account that are due are found without those that are not.
    static let trashByTime = "CREATE INDEX note_trash_by_time ON note_trash (account, deleted, deletion)"

    private static let kept = """
        id, account, body, opening, latitude, longitude, location_name, cell_x, cell_y, created, modified, revision
        """
    static let insertTrashed = """
        INSERT INTO note_trash (\(kept), deleted, deletion) SELECT \(kept), :deleted, :deletion FROM note WHERE id = :id
        """
    static let insertRestored = "INSERT INTO note (\(kept)) SELECT \(kept) FROM note_trash WHERE id = ?"

    static let selectTrashed = "SELECT trashed, revision FROM notes_account WHERE id = ?"
    static let selectTrashedNote = "SELECT * FROM note_trash WHERE id = ? AND account = ?"
    static let trash = PagedQuery(
        """
        SELECT id, opening, latitude, longitude, location_name, modified, revision, deleted, deletion
        FROM note_trash WHERE account = :account
        """,
        by: ["deletion"],
        descending: true
    )

    static let purgeUpTo = """
        DELETE FROM note_trash WHERE id IN (
            SELECT id FROM note_trash INDEXED BY note_trash_by_time
            WHERE account = ? AND deleted <= ? ORDER BY deleted, deletion LIMIT ?
        )
        """
    static let selectDue = "SELECT account FROM note_trash WHERE deleted <= ? ORDER BY deleted LIMIT 1"
}
