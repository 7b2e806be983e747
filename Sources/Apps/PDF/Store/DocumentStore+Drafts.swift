import Database
import Foundation
import Freshness
import GRDB

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

    /// Returns the newest drafts of a profile that have not expired.
    func drafts(profile: String, at now: Date) throws -> [Draft] {
        try database.read { db in
            let statement = try db.cachedStatement(sql: Self.selectDrafts)
            return try Row.fetchAll(statement, arguments: [profile, now.millisecondsSince1970, Draft.limit]).map {
                Draft(row: try Listing.Row(row: $0), until: try $0.date("draft_until"))
            }
        }
    }

    /// Removes the expired drafts.
    ///
    /// - Returns: how many they were.
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
