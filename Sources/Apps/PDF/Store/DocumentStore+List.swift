import Database
import Foundation
import Freshness
import GRDB
import Screens

extension DocumentStore {
    /// A page of the saved documents of a profile, newest first.
    struct Listing: Sendable, Equatable {
        /// A document as the list shows it.
        struct Row: Sendable, Equatable {
            var id: String
            var name: String
            var created: Date
            var length: Int
            var pageCount: Int
        }

        var rows: [Row]
        var total: Int
        var revision: Int
    }

    /// Returns a page of the list with its total and revision, read in one transaction.
    func list(profile: String, page: PageRequest) throws -> Listing {
        try database.read { db in
            Listing(
                rows: try Row.fetchAll(
                    try db.cachedStatement(sql: Self.selectList),
                    arguments: [profile, page.limit, page.offset]
                ).map { row in
                    Listing.Row(
                        id: row["id"],
                        name: row["name"],
                        created: Date(millisecondsSince1970: row["created"]),
                        length: row["length"],
                        pageCount: row["page_count"]
                    )
                },
                total: try Int.fetchOne(try db.cachedStatement(sql: Self.countList), arguments: [profile]) ?? 0,
                revision: try Self.revision(of: profile, db)
            )
        }
    }

    /// Returns the revision of a profile's list.
    func revision(profile: String) throws -> Int {
        try database.read { try Self.revision(of: profile, $0) }
    }

    private static func revision(of profile: String, _ db: Database) throws -> Int {
        let statement = try db.cachedStatement(sql: "SELECT revision FROM pdf_profile WHERE profile = ?")
        return try Int.fetchOne(statement, arguments: [profile]) ?? 0
    }

    static let selectList = """
        SELECT *, (SELECT count(*) FROM pdf_page WHERE document = sequence) AS page_count FROM pdf_document
        WHERE profile = ? AND draft_until IS NULL ORDER BY created DESC, sequence DESC LIMIT ? OFFSET ?
        """
    static let countList = "SELECT count(*) FROM pdf_document WHERE profile = ? AND draft_until IS NULL"
}
