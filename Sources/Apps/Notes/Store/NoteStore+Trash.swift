import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// Deleted notes, in a table of their own, so that no query of notes returns them. A note keeps its id and its revision
/// there, so that a restored one has the same place, address and version.
extension NoteStore {
    /// The most notes that one transaction purges.
    static let purgeBatch = 256
    /// The most contents that one change of the journal deletes: it has them.
    static let journalBatch = 32

    /// Returns a page of the trash, the last deleted first.
    func trash(account: Int64, page: PageRequest) throws -> (page: ListPage<TrashEntry<NoteOutline>>, revision: Int) {
        try users.read { db in
            let counts = try Row.fetchOne(try db.cachedStatement(sql: Self.selectTrashed), arguments: [account])
            var page = try Self.trash.page(page, ["account": account], db) { row in
                let note = try NoteOutline(row: row)
                return try TrashEntry(note, version: note.revision, deleted: row.date("deleted"))
            }
            page.total = try counts?.value(0) ?? 0
            return (page, try counts?.value(1) ?? 0)
        }
    }

    /// Moves the row of a note to the trash. Its entries in the indexes are removed by the caller.
    static func moveToTrash(_ id: Int64, deletion: Int, at now: Date, _ db: Database) throws {
        try db.cachedStatement(sql: insertTrashed)
            .execute(arguments: ["id": id, "deleted": now.millisecondsSince1970, "deletion": deletion])
    }

    /// Moves a note from the trash back to the list. A note that is already listed does not change.
    ///
    /// - Parameter preconditions: compared with the note's version.
    /// - Returns: the note and the account's revision; nil if the account has none of that id.
    /// - Throws: 412 `precondition-failed`.
    func restore(_ id: Int64, preconditions: WritePreconditions = .none, account: Int64) async throws
        -> (note: Note, revision: Int)?
    {
        defer { noteChanges[account].bump() }
        return try await users.write(scope: Self.scope(account)) { db in
            let kept = try Self.note(id, account: account, db)
            guard let note = try kept ?? Self.trashedNote(id, account: account, db) else { return nil }
            try preconditions.check(version: note.revision, of: "The note \(Note.identity(id))")
            guard kept == nil else { return (note, try Self.revision(account, db)) }
            let revision = try Self.nextRevision(account, db)
            try db.cachedStatement(sql: Self.insertRestored).execute(arguments: [id])
            try db.cachedStatement(sql: "DELETE FROM note_trash WHERE id = ?").execute(arguments: [id])
            try Self.index(note, account: account, db)
            return (note, revision)
        }
    }

    /// Deletes a note in the trash permanently.
    ///
    /// - Parameter preconditions: compared with the note's version.
    /// - Returns: the account's revision; nil if there is none of that id in its trash.
    /// - Throws: 412 `precondition-failed`.
    func purge(_ id: Int64, preconditions: WritePreconditions = .none, account: Int64) async throws -> Int? {
        defer { noteChanges[account].bump() }
        return try await users.write(scope: Self.scope(account), deleting: .permanent) { db in
            guard let note = try Self.trashedNote(id, account: account, db) else { return nil }
            try preconditions.check(version: note.revision, of: "The note \(Note.identity(id))")
            try db.cachedStatement(sql: "DELETE FROM note_trash WHERE id = ?").execute(arguments: [id])
            return try Self.nextRevision(account, db)
        }
    }

    /// Permanently deletes notes in the trash, those first that were deleted first, no more than one transaction may.
    ///
    /// - Parameters:
    ///   - time: notes that were deleted later stay.
    ///   - preconditions: compared with the account's revision.
    /// - Returns: how many notes that were, and the account's revision.
    /// - Throws: ``Problem`` 412.
    func purgeTrash(_ most: Int, upTo time: Date, preconditions: WritePreconditions = .none, account: Int64)
        async throws -> (count: Int, revision: Int)
    {
        defer { noteChanges[account].bump() }
        // So that other writers need not wait long.
        let most = min(most, users.isShared ? Self.journalBatch : Self.purgeBatch)
        return try await users.write(scope: Self.scope(account), deleting: .permanent) { db in
            let revision = try Self.revision(account, db)
            try preconditions.check(version: revision, of: "The trash")
            try db.cachedStatement(sql: Self.purgeUpTo).execute(arguments: [account, time.millisecondsSince1970, most])
            let count = db.changesCount
            return (count, count == 0 ? revision : try Self.nextRevision(account, db))
        }
    }

    /// Returns the account of the note that was deleted first; nil if none was up to a time.
    func account(ofTrashUpTo time: Date) async throws -> Int64? {
        _ = try await users.catchUp()
        return try users.read { db in
            try Int64.fetchOne(try db.cachedStatement(sql: Self.selectDue), arguments: [time.millisecondsSince1970])
        }
    }

    static func isInTrash(_ id: Int64, _ db: Database) throws -> Bool {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM note_trash WHERE id = ?"), arguments: [id]) != nil
    }

    private static func trashedNote(_ id: Int64, account: Int64, _ db: Database) throws -> Note? {
        let select = try db.cachedStatement(sql: selectTrashedNote)
        return try Note.fetchOne(select, arguments: [id, account])
    }
}

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
    private static let insertTrashed = """
        INSERT INTO note_trash (\(kept), deleted, deletion) SELECT \(kept), :deleted, :deletion FROM note WHERE id = :id
        """
    private static let insertRestored = "INSERT INTO note (\(kept)) SELECT \(kept) FROM note_trash WHERE id = ?"

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
