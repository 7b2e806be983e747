import Database
import Foundation
import Freshness
import GRDB
import Screens
import TextSearch

extension DocumentStore {
    /// A page of the saved documents of a profile, newest first.
    struct Listing: Sendable, Equatable {
        /// Returns the list over all pages.
        static func list(_ search: DocumentSearch?) -> PagedList {
            let key: [CursorValue.Kind] = search == nil ? [.integer, .integer] : [.integer]
            return PagedList("pdf.list", filter: search?.text, key: key)
        }

        /// A document as the list shows it.
        struct Row: Sendable, Equatable {
            var id: String
            var name: String
            var created: Date
            var length: Int
            var pageCount: Int
        }

        var rows: [Row]
        /// Whether documents follow.
        var hasMore: Bool
        /// The key behind which the next page begins.
        var next: [CursorValue]?
        /// Whether only ``next`` leads to it (`SearchHits.isCut`).
        var isCut = false
        /// Documents on all pages; nil if more than are counted.
        var total: Int?
        /// How many they are at least, if they are not counted to the end.
        var totalAtLeast: Int?
        /// All saved documents.
        var count: Int
        var revision: Int
    }

    /// Returns a page of the list with its total and revision, read in one transaction.
    ///
    /// - Parameter search: nil for all saved documents.
    func list(profile: String, page: PageRequest, _ search: DocumentSearch?) throws -> Listing {
        try database.read { db in
            let (revision, count) = try Self.counts(of: profile, db)
            if let search { return try Self.found(search, of: profile, page, count: count, revision: revision, db) }
            let rows = try Self.rows(of: profile, page, db)
            return Listing(
                rows: try rows.prefix(page.limit).map(Listing.Row.init(row:)),
                hasMore: rows.count > page.limit,
                next: try rows.prefix(page.limit).last.map {
                    try [.integer($0.value("created")), .integer($0.value("sequence"))]
                },
                total: count,
                count: count,
                revision: revision
            )
        }
    }

    /// Returns the rows of a page, and the one behind it.
    private static func rows(of profile: String, _ page: PageRequest, _ db: Database) throws -> [Row] {
        var arguments: StatementArguments = ["profile": profile, "limit": page.limit + 1]
        arguments += page.key.map { ["created": $0[0], "sequence": $0[1]] } ?? ["offset": page.offset]
        let select = page.key == nil ? selectList : selectListAfterKey
        return try Row.fetchAll(try db.cachedStatement(sql: select), arguments: arguments)
    }

    /// Returns a page of the documents that a search finds.
    private static func found(
        _ search: DocumentSearch,
        of profile: String,
        _ page: PageRequest,
        count: Int,
        revision: Int,
        _ db: Database
    ) throws -> Listing {
        let request = SearchHits.Request(limit: page.limit, offset: page.offset, before: page.key?[0].integer)
        let hits = try hits(search, of: profile, request, db)
        let select = try db.cachedStatement(sql: selectRanked)
        return Listing(
            rows: try hits.ranks.compactMap { rank in
                try Listing.Row.fetchOne(select, arguments: ["profile": profile, "rank": rank])
            },
            hasMore: hits.hasMore,
            next: hits.next.map { [.integer($0)] },
            isCut: hits.isCut,
            total: hits.total,
            totalAtLeast: hits.totalAtLeast,
            count: count,
            revision: revision
        )
    }

    /// Returns the revision of a profile's list.
    func revision(profile: String) throws -> Int {
        try database.read { try Self.counts(of: profile, $0).revision }
    }

    static func counts(of profile: String, _ db: Database) throws -> (revision: Int, saved: Int) {
        let row = try Row.fetchOne(try db.cachedStatement(sql: selectCounts), arguments: [profile])
        return try (row?.size(0) ?? 0, row?.size(1) ?? 0)
    }

    static let selectCounts = "SELECT revision, saved FROM pdf_profile WHERE profile = ?"
    static let selectList = "\(selectSaved) \(inOrder) OFFSET :offset"
    static let selectListAfterKey = "\(selectSaved) AND (created, sequence) < (:created, :sequence) \(inOrder)"
    private static let selectSaved =
        "SELECT * FROM pdf_document WHERE profile = :profile AND draft_until IS NULL AND trashed IS NULL"
    private static let inOrder = "ORDER BY created DESC, sequence DESC LIMIT :limit"
}

extension DocumentStore.Listing.Row: FetchableRecord {
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            name: row.value("name"),
            created: row.date("created"),
            length: row.size("length"),
            pageCount: row.size("page_count")
        )
    }
}
