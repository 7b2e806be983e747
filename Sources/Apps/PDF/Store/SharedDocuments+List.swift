import Database
import Foundation
import Screens
import SharedStore
import TextSearch

extension SharedDocuments {
    func list(profile: String, page: PageRequest, _ search: DocumentSearch?) async throws -> DocumentStore.Listing {
        try await database.read { transaction in
            let row = try transaction.rows(Self.selectProfile, [profile]).first
            let (revision, count): (Int, Int) = (try row?.value("revision") ?? 0, try row?.value("saved") ?? 0)
            let found =
                if let search {
                    try Self.found(search, of: profile, page, transaction)
                } else {
                    Found(rows: try Self.rows(of: profile, page, transaction), total: count)
                }
            let shown = found.rows.prefix(page.limit)
            return DocumentStore.Listing(
                rows: shown.map(DocumentStore.Listing.Row.init),
                hasMore: found.rows.count > page.limit,
                next: shown.last.map { search == nil ? Self.key(of: $0.document) : [.integer(Self.rank($0.document))] },
                total: found.total,
                totalAtLeast: found.totalAtLeast,
                count: count,
                revision: revision
            )
        }
    }

    func drafts(profile: String, at now: Date) async throws -> [DocumentStore.Draft] {
        try await database.rows(
            """
            SELECT \(Self.columns) FROM pdf_document AS document
            WHERE profile = $1 AND draft_until > $2 AND trashed IS NULL ORDER BY created DESC, sequence DESC LIMIT $3
            """,
            [profile, now.millisecondsSince1970, DocumentStore.Draft.limit]
        ) { row in
            let document = try DocumentRow(outline: row)
            return DocumentStore.Draft(
                row: DocumentStore.Listing.Row(document),
                until: document.document.draftUntil ?? now
            )
        }
    }

    func savedDocuments(profile: String) async throws -> [(document: Document, pageCount: Int)] {
        try await database.read { transaction in
            let page = PageRequest(limit: Int(Int32.max))
            return try Self.rows(of: profile, page, transaction).map { ($0.document, $0.pageCount) }
        }
    }

    /// A page of the list, and the row behind it.
    private struct Found {
        var rows: [DocumentRow]
        var total: Int?
        var totalAtLeast: Int?
    }

    private static func rows(of profile: String, _ page: PageRequest, _ transaction: SQLTransaction) throws
        -> [DocumentRow]
    {
        let (created, sequence) = (page.key?.first?.integer ?? .max, page.key?.last?.integer ?? .max)
        return try transaction.rows(
            """
            SELECT \(columns) FROM pdf_document AS document
            WHERE profile = $1 AND draft_until IS NULL AND trashed IS NULL AND (created, sequence) < ($2, $3)
            ORDER BY created DESC, sequence DESC LIMIT $4 OFFSET $5
            """,
            [profile, created, sequence, page.limit + 1, min(page.offset, Int(Int32.max))]
        ).map { try DocumentRow(outline: $0) }
    }

    /// The key of a page that begins behind a document.
    private static func key(of document: Document) -> [CursorValue] {
        [.integer(document.created.millisecondsSince1970), .integer(document.sequence)]
    }

    private static func rank(_ document: Document) -> Int64 {
        DocumentStore.rank(created: document.created.millisecondsSince1970, sequence: document.sequence)
    }

    /// Finds the documents that match a search, the newest first, and their number.
    private static func found(
        _ search: DocumentSearch,
        of profile: String,
        _ page: PageRequest,
        _ transaction: SQLTransaction
    ) throws -> Found {
        // No name has it, and no statement takes it.
        guard !search.text.unicodeScalars.contains("\0") else { return Found(rows: [], total: 0) }
        let hit: [any SQLParameter] = [profile, owned(search.terms, by: profile), search.words]
        let total: Int =
            try transaction.rows("\(hits) SELECT count(*) AS total FROM hit", hit).first?.value("total") ?? 0
        let rows = try transaction.rows(
            """
            \(hits) SELECT \(columns) FROM pdf_document AS document
            WHERE sequence IN (SELECT sequence FROM hit WHERE rank < $4 ORDER BY rank DESC LIMIT $5 OFFSET $6)
            ORDER BY created DESC, sequence DESC
            """,
            hit + [page.key?.first?.integer ?? .max, page.limit + 1, min(page.offset, Int(Int32.max))]
        ).map { try DocumentRow(outline: $0) }
        let counted = max(SearchHits.counted, page.key == nil ? page.offset + page.limit : 0)
        return Found(
            rows: rows,
            total: total <= counted ? total : nil,
            totalAtLeast: total <= counted ? nil : counted + 1
        )
    }

    // Materialized, so that the index is asked for the terms, and not each document of the profile.
    private static let hits = """
        WITH hit AS MATERIALIZED (
            SELECT sequence, \(DocumentStore.rankExpression) AS rank FROM pdf_document
            WHERE terms @> $2 AND profile = $1
                AND NOT EXISTS (SELECT 1 FROM unnest($3) AS word WHERE strpos(pdf_document.folded, word) = 0)
        )
        """

    /// Returns the terms of a document as the index has them; none if it is not listed.
    static func terms(of document: Document, profile: String) -> [String] {
        document.isDraft ? [] : owned(SearchTerms.parts(of: document.name.partFolded), by: profile)
    }

    /// Returns terms with the profile in each, so that a search looks at one profile's documents only.
    static func owned(_ terms: some Sequence<String>, by profile: String) -> [String] {
        // No term begins with a middle dot. Two profiles may have the same number: the rows say whose they are.
        let prefix = String(DocumentStore.owner(ofTerms: profile), radix: 36) + "\u{B7}"
        return terms.map { prefix + $0 }
    }
}
