import Database
import Foundation
import Freshness
import GRDB
import Screens

extension DocumentStore {
    /// A page of the saved documents of a profile, newest first.
    struct Listing: Sendable, Equatable {
        /// Returns the list over all pages.
        static func list(_ search: DocumentSearch?) -> PagedList {
            PagedList("pdf.list", filter: search?.text, key: [.integer, .integer])
        }

        /// A document as the list shows it.
        struct Row: Sendable, Equatable {
            var id: String
            var name: String
            var created: Date
            var length: Int
            var pageCount: Int
            /// What the list is ordered by.
            var key: [CursorValue]
        }

        var rows: [Row]
        /// Whether documents follow.
        var hasMore: Bool
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
            let (revision, count) = try Self.counts(of: profile, db)
            let found = try search.map { try Self.found($0, of: profile, page, db) }
            let rows = try found.map { try Self.rows($0.sequences, db) } ?? Self.rows(of: profile, page, db)
            return Listing(
                rows: Array(rows.prefix(page.limit)),
                hasMore: rows.count > page.limit,
                total: found?.total ?? count,
                count: count,
                revision: revision
            )
        }
    }

    /// Returns the rows of a page, and the one behind it.
    private static func rows(of profile: String, _ page: PageRequest, _ db: Database) throws -> [Listing.Row] {
        var arguments: StatementArguments = ["profile": profile, "limit": page.limit + 1]
        arguments += page.key.map { ["created": $0[0], "sequence": $0[1]] } ?? ["offset": page.offset]
        let select = page.key == nil ? selectList : selectListAfterKey
        return try Row.fetchAll(try db.cachedStatement(sql: select), arguments: arguments).map(
            Listing.Row.init(row:)
        )
    }

    private static func rows(_ sequences: [Int64], _ db: Database) throws -> [Listing.Row] {
        let statement = try db.cachedStatement(sql: selectListed)
        return try sequences.compactMap { try Row.fetchOne(statement, arguments: [$0]).map(Listing.Row.init(row:)) }
    }

    /// Returns the documents of a page of a search, and the one behind it, and how many documents the search finds.
    private static func found(_ search: DocumentSearch, of profile: String, _ page: PageRequest, _ db: Database) throws
        -> (sequences: [Int64], total: Int)
    {
        var (sequences, total): ([Int64], Int) = ([], 0)
        let arguments: StatementArguments = [
            "profile": profile, "created": page.key?[0], "sequence": page.key?[1],
        ]
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: selectNames), arguments: arguments)
        while let row = try rows.next() {
            guard search.matches(row["name"]) else { continue }
            let isBehind: Bool = page.key == nil ? total >= page.offset : row["is_behind"]
            if isBehind, sequences.count <= page.limit { sequences.append(row["sequence"]) }
            total += 1
        }
        return (sequences, total)
    }

    /// Returns the revision of a profile's list.
    func revision(profile: String) throws -> Int {
        try database.read { try Self.counts(of: profile, $0).revision }
    }

    private static func counts(of profile: String, _ db: Database) throws -> (revision: Int, saved: Int) {
        let row = try Row.fetchOne(try db.cachedStatement(sql: selectCounts), arguments: [profile])
        return (row?[0] ?? 0, row?[1] ?? 0)
    }

    static let selectCounts = "SELECT revision, saved FROM pdf_profile WHERE profile = ?"
    static let selectList = "\(selectSaved) \(inOrder) OFFSET :offset"
    static let selectListAfterKey = "\(selectSaved) AND (created, sequence) < (:created, :sequence) \(inOrder)"
    private static let selectSaved = "SELECT * FROM pdf_document WHERE profile = :profile AND draft_until IS NULL"
    private static let inOrder = "ORDER BY created DESC, sequence DESC LIMIT :limit"
    static let selectListed = "SELECT * FROM pdf_document WHERE sequence = ?"
    static let selectNames = """
        SELECT sequence, name, (created, sequence) < (:created, :sequence) AS is_behind FROM pdf_document
        WHERE profile = :profile AND draft_until IS NULL ORDER BY created DESC, sequence DESC
        """
}

extension DocumentStore.Listing.Row {
    init(row: Row) {
        self.init(
            id: row["id"],
            name: row["name"],
            created: Date(millisecondsSince1970: row["created"]),
            length: row["length"],
            pageCount: row["page_count"],
            key: [.integer(row["created"]), .integer(row["sequence"])]
        )
    }
}
