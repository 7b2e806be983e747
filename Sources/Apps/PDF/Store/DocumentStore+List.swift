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
        /// Documents on all pages.
        var total: Int
        /// All saved documents.
        var count: Int
        var revision: Int
    }

    /// Returns a page of the list with its total and revision, read in one transaction.
    ///
    /// - Parameter search: nil for all saved documents.
    func list(profile: String, page: PageRequest, _ search: DocumentSearch? = nil) throws -> Listing {
        try database.read { db in
            let count = try Int.fetchOne(try db.cachedStatement(sql: Self.countList), arguments: [profile]) ?? 0
            let found = try search.map { try Self.sequences(of: profile, $0, db) }
            return Listing(
                rows: try found.map { try Self.rows(Array($0.dropFirst(page.offset).prefix(page.limit)), db) }
                    ?? Self.rows(of: profile, page, db),
                total: found?.count ?? count,
                count: count,
                revision: try Self.revision(of: profile, db)
            )
        }
    }

    private static func rows(of profile: String, _ page: PageRequest, _ db: Database) throws -> [Listing.Row] {
        let arguments: StatementArguments = [profile, page.limit, page.offset]
        return try Row.fetchAll(try db.cachedStatement(sql: selectList), arguments: arguments).map(
            Listing.Row.init(row:)
        )
    }

    private static func rows(_ sequences: [Int64], _ db: Database) throws -> [Listing.Row] {
        let statement = try db.cachedStatement(sql: selectListed)
        return try sequences.compactMap { try Row.fetchOne(statement, arguments: [$0]).map(Listing.Row.init(row:)) }
    }

    /// Returns the documents that a search finds, in the order of the list.
    private static func sequences(of profile: String, _ search: DocumentSearch, _ db: Database) throws -> [Int64] {
        var found: [Int64] = []
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: selectNames), arguments: [profile])
        while let row = try rows.next() {
            if search.matches(row["name"]) { found.append(row["sequence"]) }
        }
        return found
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
    static let selectListed = """
        SELECT *, (SELECT count(*) FROM pdf_page WHERE document = sequence) AS page_count FROM pdf_document
        WHERE sequence = ?
        """
    static let selectNames = """
        SELECT sequence, name FROM pdf_document
        WHERE profile = ? AND draft_until IS NULL ORDER BY created DESC, sequence DESC
        """
    static let countList = "SELECT count(*) FROM pdf_document WHERE profile = ? AND draft_until IS NULL"
}

extension DocumentStore.Listing.Row {
    init(row: Row) {
        self.init(
            id: row["id"],
            name: row["name"],
            created: Date(millisecondsSince1970: row["created"]),
            length: row["length"],
            pageCount: row["page_count"]
        )
    }
}
