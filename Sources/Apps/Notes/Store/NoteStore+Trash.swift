import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// Deleted notes, in a table of their own: no query of notes meets them. A note keeps its id and its revision there, so
/// that a restored one is where it was, with the same address and version.
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
    /// - Throws: 412 `precondition-failed`; `StorageError`.
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
    /// - Throws: 412 `precondition-failed`; `StorageError`.
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
    /// - Throws: 412 `precondition-failed`; ``AccountChanged``; `StorageError`.
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
