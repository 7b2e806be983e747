import Database
import Foundation
import Freshness
import GRDB
import Screens

/// Deleted documents: their rows stay with files and pages, and have the time of their deletion. No other query returns
/// them, no operation changes them, and the search index has no names of them.
extension DocumentStore {
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

extension DocumentStore {
    /// The most drafts that one transaction removes, so that other writers need not wait long.
    static let purgeBatch = 64

    /// A draft in the list of drafts.
    struct Draft: Sendable, Equatable {
        /// The most drafts of a list.
        static let limit = 100

        var row: Listing.Row
        /// When it expires.
        var until: Date
    }

    func drafts(profile: String, at now: Date) throws -> (drafts: [Draft], usage: StorageUsage) {
        try database.read { db in
            let statement = try db.cachedStatement(sql: Self.selectDrafts)
            let rows = try Row.fetchAll(statement, arguments: [profile, now.millisecondsSince1970, Draft.limit])
            let drafts = try rows.map { Draft(row: try Listing.Row(row: $0), until: try $0.date("draft_until")) }
            return (drafts, try Self.usage(of: profile, db))
        }
    }

    func purgeDrafts(at now: Date) async throws -> Int {
        var purged = 0
        while true {
            let (count, profiles) = try await database.writeErasing { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: Self.selectExpired,
                    arguments: [now.millisecondsSince1970, Self.purgeBatch]
                )
                for row in rows { try Self.purge(row.value("sequence"), db) }
                return (rows.count, try Set(rows.map { try $0.value("profile") as String }))
            }
            for profile in profiles { changes[profile].bump() }
            purged += count
            if count < Self.purgeBatch { return purged }
        }
    }

    static let selectDrafts = """
        SELECT * FROM pdf_document INDEXED BY pdf_document_by_end
        WHERE profile = ? AND draft_until > ? AND trashed IS NULL ORDER BY created DESC, sequence DESC LIMIT ?
        """
    static let selectExpired = """
        SELECT sequence, profile FROM pdf_document WHERE draft_until IS NOT NULL AND draft_until <= ?
        ORDER BY draft_until LIMIT ?
        """
}

extension DocumentStore {
    /// The trash. The list, its index and its count exclude documents in it.
    static let trashTables = """
        ALTER TABLE pdf_document ADD COLUMN trashed INTEGER; -- when it was moved to the trash; NULL: it was not
        DROP INDEX pdf_document_by_age;
        CREATE INDEX pdf_document_by_age ON pdf_document (profile, created DESC, sequence DESC)
            WHERE draft_until IS NULL AND trashed IS NULL;
        CREATE INDEX pdf_document_by_deletion ON pdf_document (profile, trashed DESC, sequence DESC)
            WHERE trashed IS NOT NULL;
        CREATE INDEX pdf_document_by_trash_age ON pdf_document (trashed) WHERE trashed IS NOT NULL;

        ALTER TABLE pdf_profile ADD COLUMN trashed INTEGER NOT NULL DEFAULT 0; -- documents in the trash
        CREATE TRIGGER pdf_document_trashed AFTER UPDATE OF trashed ON pdf_document
        WHEN old.trashed IS NULL AND new.trashed IS NOT NULL BEGIN
            UPDATE pdf_profile SET saved = saved - 1, trashed = trashed + 1 WHERE profile = new.profile;
        END;
        CREATE TRIGGER pdf_document_restored AFTER UPDATE OF trashed ON pdf_document
        WHEN old.trashed IS NOT NULL AND new.trashed IS NULL BEGIN
            UPDATE pdf_profile SET saved = saved + 1, trashed = trashed - 1 WHERE profile = new.profile;
        END;
        DROP TRIGGER pdf_document_removed;
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

    static let selectTrash = "\(selectTrashRows) \(inOrder) OFFSET :offset"
    static let selectTrashAfterKey =
        "\(selectTrashRows) AND (trashed, sequence) < (:trashed, :sequence) \(inOrder)"
    private static let selectTrashRows = "SELECT * FROM pdf_document WHERE profile = :profile AND trashed IS NOT NULL"
    private static let inOrder = "ORDER BY trashed DESC, sequence DESC LIMIT :limit"

    static let selectDue = """
        SELECT sequence, profile FROM pdf_document WHERE trashed IS NOT NULL AND trashed <= :time
        ORDER BY trashed LIMIT :limit
        """
    static let selectDueOfProfile = """
        SELECT sequence, profile FROM pdf_document
        WHERE profile = :profile AND trashed IS NOT NULL AND trashed <= :time ORDER BY trashed DESC LIMIT :limit
        """
}
