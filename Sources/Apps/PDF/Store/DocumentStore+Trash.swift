import Database
import Foundation
import Freshness
import GRDB
import Screens

/// Deleted documents: their rows stay with files and pages, and have the time of their deletion. No other query meets
/// them, and nothing changes them; the search index has no names of them.
extension DocumentStore {
    /// Returns a page of the trash, read in one transaction.
    func trash(profile: String, page: PageRequest) throws -> TrashPage<Listing.Row> {
        try database.read { db in
            let counts = try Row.fetchOne(try db.cachedStatement(sql: Self.selectTrashed), arguments: [profile])
            var arguments: StatementArguments = ["profile": profile, "limit": page.limit + 1]
            arguments += page.key.map { ["trashed": $0[0], "sequence": $0[1]] } ?? ["offset": page.offset]
            let select = page.key == nil ? Self.selectTrash : Self.selectTrashAfterKey
            let rows = try Row.fetchAll(try db.cachedStatement(sql: select), arguments: arguments)
            return TrashPage(
                try rows.map { row in
                    try TrashPage.Entry(
                        Listing.Row(row: row),
                        version: row.size("version"),
                        deleted: row.date("trashed"),
                        key: [.integer(row.value("trashed")), .integer(row.value("sequence"))]
                    )
                },
                limit: page.limit,
                total: try counts?.size(1) ?? 0,
                revision: try counts?.size(0) ?? 0
            )
        }
    }

    /// Moves a document from the trash back to the list. One that is already listed stays as it is.
    ///
    /// - Parameter preconditions: what its version must meet.
    /// - Returns: the document and the new revision of the list if that changed; nil if the profile has none of that
    ///   id.
    /// - Throws: 412 `precondition-failed`; `StorageError`.
    func restore(_ id: String, preconditions: WritePreconditions, profile: String, at now: Date) async throws
        -> Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await database.write { db in
            let kept = try Self.document(id, profile: profile, at: now, db)
            guard let document = try kept ?? Self.trashedDocument(id, profile: profile, db) else { return nil }
            try preconditions.check(version: document.version)
            guard kept == nil else { return (document, nil) }
            let update = try db.cachedStatement(sql: "UPDATE pdf_document SET trashed = NULL WHERE sequence = ?")
            try update.execute(arguments: [document.sequence])
            try Self.changeName(of: nil, to: document, profile: profile, db)
            return (document, try Self.nextRevision(profile, db))
        }
    }

    /// Deletes a document in the trash permanently, with its file.
    ///
    /// - Parameter preconditions: what its version must meet.
    /// - Returns: the new revision of the list; nil if there is none of that id in the trash.
    /// - Throws: 412 `precondition-failed`; `StorageError`.
    func purge(_ id: String, preconditions: WritePreconditions, profile: String) async throws -> Int? {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await database.writeErasing { db in
            guard let document = try Self.trashedDocument(id, profile: profile, db) else { return nil }
            try preconditions.check(version: document.version)
            try Self.purge(document.sequence, db)
            return try Self.nextRevision(profile, db)
        }
    }

    /// Permanently deletes what was moved to the trash up to a time.
    ///
    /// - Parameters:
    ///   - profile: nil for all.
    ///   - preconditions: what the revision of the profile's list must meet.
    /// - Returns: how many documents that were, and the new revision of each profile that had some.
    /// - Throws: 412 `precondition-failed`; `StorageError`.
    func purgeTrash(of profile: String?, upTo time: Date, preconditions: WritePreconditions) async throws
        -> (count: Int, revisions: [String: Int])
    {
        var (count, revisions, isFirst): (Int, [String: Int], Bool) = (0, [:], true)
        while true {
            let (purged, changed) = try await database.writeErasing { [isFirst] db in
                if isFirst, let profile {
                    try preconditions.check(version: try Self.counts(of: profile, db).revision)
                }
                let rows = try Self.due(of: profile, upTo: time, db)
                for row in rows { try Self.purge(row.value("sequence"), db) }
                let revisions = try Set(rows.map { try $0.value("profile") as String }).map {
                    ($0, try Self.nextRevision($0, db))
                }
                return (rows.count, Dictionary(uniqueKeysWithValues: revisions))
            }
            for profile in changed.keys { changes[profile].bump() }
            revisions.merge(changed) { _, new in new }
            (count, isFirst) = (count + purged, false)
            if purged < Self.purgeBatch { return (count, revisions) }
        }
    }

    private static func due(of profile: String?, upTo time: Date, _ db: Database) throws -> [Row] {
        let limit: StatementArguments = ["time": time.millisecondsSince1970, "limit": purgeBatch]
        guard let profile else { return try Row.fetchAll(db, sql: selectDue, arguments: limit) }
        return try Row.fetchAll(db, sql: selectDueOfProfile, arguments: limit + ["profile": profile])
    }

    static func purge(_ sequence: Int64, _ db: Database) throws {
        let pages = try pages(of: sequence, db)
        try db.execute(sql: "DELETE FROM pdf_document WHERE sequence = ?", arguments: [sequence])
        try ThumbnailStore.forget(pages, db)
    }

    private static func trashedDocument(_ id: String, profile: String, _ db: Database) throws -> Document? {
        let select = try db.cachedStatement(sql: selectTrashedDocument)
        guard let row = try Row.fetchOne(select, arguments: [id, profile]) else { return nil }
        return try document(row, db)
    }
}
