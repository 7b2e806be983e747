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
                revision: revision,
                usage: try row.map { try DocumentCounts($0).usage } ?? DocumentCounts().usage
            )
        }
    }

    func drafts(profile: String, at now: Date) async throws -> (drafts: [DocumentStore.Draft], usage: StorageUsage) {
        let drafts = try await database.rows(
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
        return (drafts, try await usage(profile: profile))
    }

    func savedDocuments(profile: String) async throws -> [(document: Document, pageCount: Int)] {
        try await database.read { transaction in
            let page = PageRequest(limit: Int(Int32.max))
            return try Self.rows(of: profile, page, transaction).map { ($0.document, $0.pageCount) }
        }
    }

    /// Returns the rows of a page, and the next one.
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

    /// The key of a document, after which a page begins.
    private static func key(of document: Document) -> [CursorValue] {
        [.integer(document.created.millisecondsSince1970), .integer(document.sequence)]
    }

    private static func rank(_ document: Document) -> Int64 {
        DocumentStore.rank(created: document.created.millisecondsSince1970, sequence: document.sequence)
    }

    /// Returns the documents that match a search, the newest first, and their number.
    private static func found(
        _ search: DocumentSearch,
        of profile: String,
        _ page: PageRequest,
        _ transaction: SQLTransaction
    ) throws -> Found {
        // No name contains U+0000, and no statement accepts it.
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

    /// Returns the indexed terms of a document; none if it is not listed.
    static func terms(of document: Document, profile: String) -> [String] {
        document.isDraft ? [] : owned(SearchTerms.parts(of: document.name.partFolded), by: profile)
    }

    /// Returns terms with the profile in each, so that a search looks at one profile's documents only.
    static func owned(_ terms: some Sequence<String>, by profile: String) -> [String] {
        // No term begins with a middle dot. Two profiles may have the same number: the rows decide.
        let prefix = String(DocumentStore.owner(ofTerms: profile), radix: 36) + "\u{B7}"
        return terms.map { prefix + $0 }
    }
}

extension SharedDocuments {
    func trash(profile: String, page: PageRequest) async throws -> TrashPage<DocumentStore.Listing.Row> {
        try await database.read { transaction in
            let counts = try transaction.rows(Self.selectProfile, [profile]).first
            let (trashed, sequence) = (page.key?.first?.integer ?? .max, page.key?.last?.integer ?? .max)
            let rows = try transaction.rows(
                """
                SELECT \(Self.columns), document.trashed FROM pdf_document AS document
                WHERE profile = $1 AND trashed IS NOT NULL AND (trashed, sequence) < ($2, $3)
                ORDER BY trashed DESC, sequence DESC LIMIT $4 OFFSET $5
                """,
                [profile, trashed, sequence, page.limit + 1, min(page.offset, Int(Int32.max))]
            ).map { row in
                let (document, trashed) = (try DocumentRow(outline: row), try row.value("trashed") as Int64)
                return TrashPage.Entry(
                    DocumentStore.Listing.Row(document),
                    version: document.document.version,
                    deleted: Date(millisecondsSince1970: trashed),
                    key: [.integer(trashed), .integer(document.document.sequence)]
                )
            }
            return TrashPage(
                rows,
                limit: page.limit,
                total: try counts?.value("trashed") ?? 0,
                revision: try counts?.value("revision") ?? 0
            )
        }
    }

    func restore(_ id: String, preconditions: WritePreconditions, profile: String, at now: Date) async throws
        -> DocumentStore.Changed?
    {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try await write(of: profile) { transaction -> Outcome<DocumentStore.Changed?> in
            let kept = try Self.document(id, profile: profile, at: now, transaction)
            guard let document = try kept ?? Self.trashedDocument(id, profile: profile, transaction) else {
                return Outcome(value: nil)
            }
            try preconditions.check(version: document.version)
            guard kept == nil else { return Outcome(value: (document, nil)) }
            let sql = "UPDATE pdf_document SET trashed = NULL, terms = $2 WHERE sequence = $1"
            try transaction.execute(sql, [document.sequence, Self.terms(of: document, profile: profile)])
            let change = DocumentCounts(document) - DocumentCounts(document, isTrashed: true)
            return Outcome(value: (document, try Self.count(change, isListed: true, of: profile, transaction)))
        }
    }

    func purge(_ id: String, preconditions: WritePreconditions, profile: String) async throws -> Int? {
        guard DocumentIdentity.isOne(id) else { return nil }
        return try await write(of: profile) { transaction -> Outcome<Int?> in
            guard let document = try Self.trashedDocument(id, profile: profile, transaction) else {
                return Outcome(value: nil)
            }
            try preconditions.check(version: document.version)
            try Self.remove([document], transaction)
            let change = -DocumentCounts(document, isTrashed: true)
            let revision = try Self.count(change, isListed: true, of: profile, transaction)
            return Outcome(value: revision, pages: document.pages.map(\.content), hasRemoved: true)
        }
    }

    func purgeTrash(of profile: String?, upTo time: Date, preconditions: WritePreconditions) async throws
        -> (count: Int, revisions: [String: Int])
    {
        let time = time.millisecondsSince1970
        let due = "SELECT DISTINCT profile FROM pdf_document WHERE trashed <= $1"
        let profiles =
            if let profile { [profile] } else {
                try await database.rows(due, [time]) { try $0.value("profile") as String }
            }
        var (count, revisions): (Int, [String: Int]) = (0, [:])
        for owner in profiles {
            var isFirst = true
            while true {
                let (purged, revision) = try await write(of: owner) { [isFirst] transaction in
                    if isFirst, profile != nil {
                        let row = try transaction.rows(Self.selectProfile, [owner]).first
                        try preconditions.check(version: try row?.value("revision") ?? 0)
                    }
                    return try Self.purge("trashed <= $2", time, isTrashed: true, of: owner, transaction)
                }
                if let revision { revisions[owner] = revision }
                (count, isFirst) = (count + purged, false)
                if purged < DocumentStore.purgeBatch { break }
            }
        }
        return (count, revisions)
    }

    func purgeDrafts(at now: Date) async throws -> Int {
        let time = now.millisecondsSince1970
        let due = "SELECT DISTINCT profile FROM pdf_document WHERE draft_until <= $1"
        var count = 0
        for owner in try await database.rows(due, [time], { try $0.value("profile") as String }) {
            while true {
                let (purged, _) = try await write(of: owner) { transaction in
                    try Self.purge("draft_until <= $2", time, isTrashed: false, of: owner, transaction)
                }
                count += purged
                if purged < DocumentStore.purgeBatch { break }
            }
        }
        return count
    }

    /// Permanently deletes some documents of a profile, as many as one transaction may.
    ///
    /// - Parameters:
    ///   - condition: the condition of their rows, in which `$2` is `time`.
    ///   - isTrashed: whether they are in the trash.
    /// - Returns: their number, and the new revision of the list if that changed.
    private static func purge(
        _ condition: String,
        _ time: Int64,
        isTrashed: Bool,
        of profile: String,
        _ transaction: SQLTransaction
    ) throws -> Outcome<(Int, Int?)> {
        let sql = """
            SELECT \(columns) FROM pdf_document AS document WHERE profile = $1 AND \(condition)
            ORDER BY sequence LIMIT \(DocumentStore.purgeBatch)
            """
        let documents = try transaction.rows(sql, [profile, time]).map { try DocumentRow(outline: $0).document }
        guard !documents.isEmpty else { return Outcome(value: (0, nil)) }
        let pages = try transaction.rows(
            "SELECT DISTINCT content FROM pdf_page WHERE document = ANY($1)",
            [documents.map { Int($0.sequence) }]
        ).map { try $0.value("content") as String }
        try remove(documents, transaction)
        let change = documents.reduce(DocumentCounts()) { $0 - DocumentCounts($1, isTrashed: isTrashed) }
        let revision = try count(change, isListed: isTrashed, of: profile, transaction)
        return Outcome(value: (documents.count, revision), pages: pages, hasRemoved: true)
    }
}
