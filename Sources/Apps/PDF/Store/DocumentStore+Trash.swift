import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// Deleted documents: their rows stay with files and pages, and have the time of their deletion. No other query returns
/// them, no operation changes them, and the search index has no names of them.
extension DocumentStore {
    func trash(profile: String, page: PageRequest) throws -> (page: ListPage<TrashEntry<Listing.Row>>, revision: Int) {
        try users.read { db in
            let counts = try Row.fetchOne(try db.cachedStatement(sql: Self.selectTrashed), arguments: [profile])
            var page = try Self.trash.page(page, ["profile": profile], db) { row in
                try TrashEntry(Listing.Row(row: row), version: row.size("version"), deleted: row.date("trashed"))
            }
            page.total = try counts?.size(1) ?? 0
            return (page, try counts?.size(0) ?? 0)
        }
    }

    /// Moves a document from the trash back to the list. One that is already listed is not changed.
    ///
    /// - Parameter preconditions: the conditions for its version.
    /// - Returns: the document, and the new revision of the list if that changed; nil if the profile has none of that
    ///   id.
    /// - Throws: 412 `precondition-failed`.
    func restore(_ id: String, preconditions: WritePreconditions, profile: String, at now: Date) async throws
        -> Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await users.write(scope: Self.scope(profile)) { db in
            let kept = try Self.document(id, profile: profile, at: now, db)
            guard let document = try kept ?? Self.trashedDocument(id, profile: profile, db) else { return nil }
            try preconditions.check(version: document.version)
            guard kept == nil else {
                return Changed(document: document, usage: try Self.usage(of: profile, db))
            }
            let update = try db.cachedStatement(sql: "UPDATE pdf_document SET trashed = NULL WHERE sequence = ?")
            try update.execute(arguments: [document.sequence])
            try Self.changeName(of: nil, to: document, profile: profile, db)
            return try Self.changed(document, profile: profile, db)
        }
    }

    /// Deletes a document in the trash permanently, with its file.
    ///
    /// - Parameter preconditions: the conditions for its version.
    /// - Returns: the new revision of the list; nil if there is none of that id in the trash.
    /// - Throws: 412 `precondition-failed`.
    func purge(_ id: String, preconditions: WritePreconditions, profile: String) async throws -> Int? {
        guard DocumentIdentity.isOne(id) else { return nil }
        defer { changes[profile].bump() }
        return try await users.write(scope: Self.scope(profile), deleting: .permanent) { db in
            guard let document = try Self.trashedDocument(id, profile: profile, db) else { return nil }
            try preconditions.check(version: document.version)
            try Self.purge(document.sequence, db)
            return try Self.nextRevision(profile, db)
        }
    }

    /// Permanently deletes documents in the trash, those first that were deleted first, no more than one transaction
    /// may.
    ///
    /// - Parameters:
    ///   - time: documents that were deleted later stay.
    ///   - preconditions: the conditions for the revision of the profile's list.
    /// - Returns: their number, and the revision.
    /// - Throws: 412 `precondition-failed`.
    func purgeTrash(_ most: Int, upTo time: Date, preconditions: WritePreconditions = .none, profile: String)
        async throws -> (count: Int, revision: Int)
    {
        defer { changes[profile].bump() }
        return try await users.write(scope: Self.scope(profile), deleting: .permanent) { db in
            let revision = try Self.counts(of: profile, db).revision
            try preconditions.check(version: revision)
            let count = try Self.purge(Self.selectTrashedUpTo, most, profile, time, db)
            return (count, count > 0 ? try Self.nextRevision(profile, db) : revision)
        }
    }

    /// Returns the profiles with documents that are due.
    func profiles(_ select: String, _ time: Date) async throws -> [String] {
        _ = try await users.catchUp()
        return try users.read { try String.fetchAll($0, sql: select, arguments: [time.millisecondsSince1970]) }
    }

    /// Permanently deletes some documents of a profile, as many as one transaction may.
    ///
    /// - Parameter select: returns their `sequence` and `page_count`.
    /// - Returns: their number.
    private static func purge(_ select: String, _ most: Int, _ profile: String, _ time: Date, _ db: Database) throws
        -> Int
    {
        let statement = try db.cachedStatement(sql: select)
        let arguments: StatementArguments = [profile, time.millisecondsSince1970, min(most, purgeBatch)]
        let rows = try Row.fetchAll(statement, arguments: arguments)
        var (count, pages) = (0, 0)
        for row in rows where pages < purgedPages {
            try purge(row.value("sequence"), db)
            pages += try row.size("page_count")
            count += 1
        }
        return count
    }

    static func purge(_ sequence: Int64, _ db: Database) throws {
        let pages = try pages(of: sequence, db)
        try db.execute(sql: "DELETE FROM pdf_document WHERE sequence = ?", arguments: [sequence])
        try ThumbnailStore.forget(pages.map(\.content), db)
    }

    private static func trashedDocument(_ id: String, profile: String, _ db: Database) throws -> Document? {
        let select = try db.cachedStatement(sql: selectTrashedDocument)
        guard let row = try Row.fetchOne(select, arguments: [id, profile]) else { return nil }
        return try document(row, db)
    }

    /// The most documents that one transaction removes, so that other writers need not wait long.
    static let purgeBatch = 64
    /// About the most pages of them: a change of the journal has their rows.
    private static let purgedPages = 20_000

    /// A draft in the list of drafts.
    struct Draft: Sendable, Equatable {
        /// The most drafts of a list.
        static let limit = 100

        var row: Listing.Row
        /// When it expires.
        var until: Date
    }

    func drafts(profile: String, at now: Date) throws -> (drafts: [Draft], usage: StorageUsage) {
        try users.read { db in
            let statement = try db.cachedStatement(sql: Self.selectDrafts)
            let rows = try Row.fetchAll(statement, arguments: [profile, now.millisecondsSince1970, Draft.limit])
            let drafts = try rows.map { Draft(row: try Listing.Row(row: $0), until: try $0.date("draft_until")) }
            return (drafts, try Self.usage(of: profile, db))
        }
    }

    /// Removes the expired drafts.
    ///
    /// - Returns: their number.
    func purgeDrafts(at now: Date) async throws -> Int {
        var count = 0
        for profile in try await profiles(Self.selectExpired, now) {
            defer { changes[profile].bump() }
            var purged: Int
            repeat {
                purged = try await users.write(scope: Self.scope(profile), deleting: .permanent) { db in
                    try Self.purge(Self.selectExpiredOfProfile, .max, profile, now, db)
                }
                count += purged
            } while purged > 0
        }
        return count
    }

    static let selectDrafts = """
        SELECT * FROM pdf_document INDEXED BY pdf_document_by_end
        WHERE profile = ? AND draft_until > ? AND trashed IS NULL ORDER BY created DESC, sequence DESC LIMIT ?
        """
    static let selectExpired = """
        SELECT DISTINCT profile FROM pdf_document INDEXED BY pdf_document_by_end
        WHERE draft_until IS NOT NULL AND draft_until <= ?
        """
    static let selectExpiredOfProfile = """
        SELECT sequence, \(countOfStoredPages) AS page_count FROM pdf_document INDEXED BY pdf_document_by_end
        WHERE profile = ? AND draft_until IS NOT NULL AND draft_until <= ? ORDER BY draft_until LIMIT ?
        """

    /// The trash. The list, its index and its count exclude documents in it.
    static let trashTables = """
        ALTER TABLE pdf_document ADD COLUMN trashed INTEGER; -- when it was moved to the trash; NULL: it was not
        DROP INDEX pdf_document_by_age;
        CREATE INDEX pdf_document_by_age ON pdf_document (profile, created DESC, sequence DESC)
            WHERE draft_until IS NULL AND trashed IS NULL;
        \(trashIndexes)

        ALTER TABLE pdf_profile ADD COLUMN trashed INTEGER NOT NULL DEFAULT 0; -- documents in the trash
        DROP TRIGGER pdf_document_removed;
        \(trashTriggers)
        """

    static let trashIndexes = """
        CREATE INDEX pdf_document_by_deletion ON pdf_document (profile, trashed DESC, sequence DESC)
            WHERE trashed IS NOT NULL;
        CREATE INDEX pdf_document_by_trash_age ON pdf_document (trashed) WHERE trashed IS NOT NULL;
        """
    static let trashTriggers = """
        CREATE TRIGGER pdf_document_trashed AFTER UPDATE OF trashed ON pdf_document
        WHEN old.trashed IS NULL AND new.trashed IS NOT NULL BEGIN
            UPDATE pdf_profile SET saved = saved - 1, trashed = trashed + 1 WHERE profile = new.profile;
        END;
        CREATE TRIGGER pdf_document_restored AFTER UPDATE OF trashed ON pdf_document
        WHEN old.trashed IS NOT NULL AND new.trashed IS NULL BEGIN
            UPDATE pdf_profile SET saved = saved + 1, trashed = trashed - 1 WHERE profile = new.profile;
        END;
        CREATE TRIGGER pdf_document_removed AFTER DELETE ON pdf_document
        WHEN old.draft_until IS NULL AND old.trashed IS NULL BEGIN
            UPDATE pdf_profile SET saved = saved - 1 WHERE profile = old.profile;
        END;
        CREATE TRIGGER pdf_document_purged AFTER DELETE ON pdf_document WHEN old.trashed IS NOT NULL BEGIN
            UPDATE pdf_profile SET trashed = trashed - 1 WHERE profile = old.profile;
        END;
        """

    static let moveToTrash = "UPDATE pdf_document SET trashed = ? WHERE sequence = ?"
    static let selectTrashed = "SELECT revision, trashed FROM pdf_profile WHERE profile = ?"
    static let selectTrashedDocument =
        "SELECT * FROM pdf_document WHERE id = ? AND profile = ? AND trashed IS NOT NULL"

    static let trash = PagedQuery(
        "SELECT * FROM pdf_document WHERE profile = :profile AND trashed IS NOT NULL",
        by: ["trashed", "sequence"],
        descending: true
    )

    static let selectDue = """
        SELECT profile FROM pdf_document INDEXED BY pdf_document_by_trash_age
        WHERE trashed IS NOT NULL AND trashed <= ? ORDER BY trashed LIMIT 1
        """
    static let selectTrashedUpTo = """
        SELECT sequence, \(countOfStoredPages) AS page_count FROM pdf_document
        WHERE profile = ? AND trashed IS NOT NULL AND trashed <= ? ORDER BY trashed, sequence LIMIT ?
        """
}
