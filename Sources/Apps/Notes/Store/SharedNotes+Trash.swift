import Database
import Foundation
import Screens
import SharedStore

extension SharedNotes {
    func trash(account: Int64, page: PageRequest) async throws -> TrashPage<NoteOutline> {
        try await database.read { transaction in
            let counts = try transaction.rows("SELECT trashed, revision FROM notes_account WHERE id = $1", [account])
            let before = page.key?.first?.integer ?? .max
            let rows = try transaction.rows(Self.selectTrash, [account, before, page.limit + 1, page.offset])
            return TrashPage(
                try rows.map { row in
                    guard let note = try NoteOutline(row) else { return nil }
                    return TrashPage.Entry(
                        note,
                        version: note.revision,
                        deleted: Date(millisecondsSince1970: try row.value("deleted")),
                        key: [.integer(try row.value("deletion"))]
                    )
                }.compactMap(\.self),
                limit: page.limit,
                total: try counts.first?.value("trashed") ?? 0,
                revision: try counts.first?.value("revision") ?? 0
            )
        }
    }

    private static let selectTrash = """
        SELECT \(NoteColumns.outline), deleted, deletion FROM note_trash WHERE account = $1 AND deletion < $2
        ORDER BY deletion DESC LIMIT $3 OFFSET $4
        """

    func restore(_ id: Int64, preconditions: WritePreconditions, account: Int64) async throws
        -> (note: Note, revision: Int)?
    {
        try await write(of: account) { transaction -> (note: Note, revision: Int)? in
            let kept = try Self.note(id, account: account, transaction)
            guard let note = try kept ?? Self.trashedNote(id, account, transaction) else { return nil }
            try preconditions.check(version: note.revision, of: "The note \(Note.identity(id))")
            guard kept == nil else { return (note, try Self.revision(account, transaction)) }
            let change = AccountChange(notes: 1, trashed: -1, trashBytes: -Self.size(of: note))
            let revision = try Self.count(change, of: account, transaction)
            try transaction.execute("DELETE FROM note_trash WHERE id = $1", [id])
            return (try Self.insert(note, account: account, transaction), revision)
        }
    }

    private static func trashedNote(_ id: Int64, _ account: Int64, _ transaction: SQLTransaction) throws -> Note? {
        try transaction.rows("SELECT * FROM note_trash WHERE id = $1 AND account = $2", [id, account]).first
            .flatMap { try Note($0) }
    }

    func purge(_ id: Int64, preconditions: WritePreconditions, account: Int64) async throws -> Int? {
        try await write(of: account) { transaction -> Int? in
            guard let note = try Self.trashedNote(id, account, transaction) else { return nil }
            try preconditions.check(version: note.revision, of: "The note \(Note.identity(id))")
            return try Self.purge("id = $2", id, account, transaction).revision
        }
    }

    func emptyTrash(preconditions: WritePreconditions, account: Int64) async throws -> (count: Int, revision: Int) {
        try await write(of: account) { transaction -> (count: Int, revision: Int) in
            let revision = try Self.revision(account, transaction)
            try preconditions.check(version: revision, of: "The trash")
            let (count, changed) = try Self.purge("deletion <= $2", Int64(revision), account, transaction)
            return (count, changed ?? revision)
        }
    }

    func purgeTrash(deletedBefore time: Date) async throws -> (count: Int, revisions: [Int64: Int]) {
        let due = "SELECT DISTINCT account FROM note_trash WHERE deleted <= $1"
        let accounts = try await database.rows(due, [time.millisecondsSince1970]) { row in
            try row.value("account") as Int64
        }
        var (count, revisions): (Int, [Int64: Int]) = (0, [:])
        for account in accounts {
            let purged = try await write(of: account) { transaction in
                try Self.purge("deleted <= $2", time.millisecondsSince1970, account, transaction)
            }
            count += purged.count
            revisions[account] = purged.revision
        }
        return (count, revisions)
    }

    /// Permanently deletes notes of an account from its trash.
    ///
    /// - Returns: how many notes that were, and the account's revision; nil if there were none.
    private static func purge(
        _ condition: String,
        _ value: Int64,
        _ account: Int64,
        _ transaction: SQLTransaction
    ) throws -> (count: Int, revision: Int?) {
        let purged = try transaction.rows(
            """
            WITH purged AS (
                DELETE FROM note_trash WHERE account = $1 AND \(condition)
                RETURNING octet_length(body) + octet_length(location_name) + \(NoteStore.bytesBeside) AS size
            )
            SELECT count(*) AS notes, coalesce(sum(size), 0)::int8 AS bytes FROM purged
            """,
            [account, value]
        ).first
        let (count, bytes): (Int, Int) = (try purged?.value("notes") ?? 0, try purged?.value("bytes") ?? 0)
        guard count > 0 else { return (0, nil) }
        let change = AccountChange(trashed: -count, bytes: -bytes, trashBytes: -bytes)
        return (count, try self.count(change, of: account, transaction))
    }
}
