import Cluster
import Foundation
import GRDB
import Storage

/// Pictures of pages: a cache of this server, also if servers share the documents.
struct ThumbnailStore: Sendable {
    /// A picture of a page.
    struct Thumbnail: Sendable, Equatable {
        var data: Data
        var mediaType: String
    }

    /// The precision of a thumbnail's last use, in seconds, so that not every read writes.
    static let useGrain: TimeInterval = 3600

    let database: LarderDatabase

    /// Returns the stored thumbnail of a page, and when it was used last.
    func storedThumbnail(of page: DocumentPage, width: Int) throws -> (thumbnail: Thumbnail, lastUsed: Date)? {
        try database.read { db in
            let sql =
                "SELECT type, bytes, last_used FROM pdf_thumbnail WHERE content = ? AND rotation = ? AND width = ?"
            return try Row.fetchOne(
                try db.cachedStatement(sql: sql),
                arguments: [page.content, page.rotation, width]
            ).map {
                try (Thumbnail(data: $0.value("bytes"), mediaType: $0.value("type")), $0.date("last_used"))
            }
        }
    }

    /// Records the use of a thumbnail, unless a use of about the same time is recorded.
    func noteUse(ofThumbnailOf page: DocumentPage, width: Int, after lastUsed: Date, at now: Date) async throws {
        guard lastUsed.addingTimeInterval(Self.useGrain) < now else { return }
        try await database.writeIfRoom { db in
            try db.execute(
                sql: "UPDATE pdf_thumbnail SET last_used = ? WHERE content = ? AND rotation = ? AND width = ?",
                arguments: [now.millisecondsSince1970, page.content, page.rotation, width]
            )
        }
    }

    /// Returns the stored thumbnail of a page, and records its use.
    func thumbnail(of page: DocumentPage, width: Int, at now: Date) async throws -> Thumbnail? {
        guard let found = try storedThumbnail(of: page, width: width) else { return nil }
        try await noteUse(ofThumbnailOf: page, width: width, after: found.lastUsed, at: now)
        return found.thumbnail
    }

    /// Stores a thumbnail, and removes those that were used least recently while all of them together have more than
    /// `budget` bytes.
    ///
    /// - Throws: ``DocumentStore/Gone`` if no document has the page any more: then no picture of it may stay.
    func save(_ thumbnail: Thumbnail, of page: DocumentPage, width: Int, budget: Int, at now: Date) async throws {
        guard thumbnail.data.count <= budget else { return }
        try await database.writeIfRoom { db in
            let select = try db.cachedStatement(sql: "SELECT 1 FROM pdf_page WHERE content = ?")
            guard try Int.fetchOne(select, arguments: [page.content]) != nil else { throw DocumentStore.Gone() }
            try db.execute(
                sql: Self.insertThumbnail,
                arguments: [
                    page.content, page.rotation, width, thumbnail.mediaType, now.millisecondsSince1970,
                    thumbnail.data.count, thumbnail.data,
                ]
            )
            try Self.evictThumbnails(budget: budget, db)
        }
    }

    private static func evictThumbnails(budget: Int, _ db: Database) throws {
        var excess = (try Int.fetchOne(db, sql: sumOfThumbnails) ?? 0) - budget
        guard excess > 0 else { return }
        for row in try Row.fetchAll(db, sql: selectOldestThumbnails) where excess > 0 {
            try db.execute(sql: "DELETE FROM pdf_thumbnail WHERE rowid = ?", arguments: [row.value("rowid") as Int64])
            excess -= try row.size("size")
        }
    }

    private static let insertThumbnail = """
        INSERT INTO pdf_thumbnail (content, rotation, width, type, last_used, size, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET
            type = excluded.type, last_used = excluded.last_used, size = excluded.size, bytes = excluded.bytes
        """
    static let sumOfThumbnails = "SELECT sum(size) FROM pdf_thumbnail"
    static let selectOldestThumbnails = "SELECT rowid, size FROM pdf_thumbnail ORDER BY last_used, rowid LIMIT 1000"

    /// Removes the thumbnails of pages that no document has any more.
    ///
    /// - Parameter contents: those of the pages (``DocumentPage/content``).
    static func forget(_ contents: [String], _ db: Database) throws {
        let forget = try db.cachedStatement(
            sql: """
                DELETE FROM pdf_thumbnail
                WHERE content = :content AND NOT EXISTS (SELECT 1 FROM pdf_page WHERE content = :content)
                """
        )
        for content in Set(contents) { try forget.execute(arguments: ["content": content]) }
    }

    /// Does the same for a row that another server has changed.
    @Sendable static func forgetPage(_ db: Database, _ update: JournalTables.RowUpdate) throws {
        if let content: String = try update.before?.value("content") { try forget([content], db) }
    }
}
