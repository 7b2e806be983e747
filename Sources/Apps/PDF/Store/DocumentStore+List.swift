import Cluster
import Concurrency
import Foundation
import GRDB
import HTTP
import Screens
import Storage

extension DocumentStore {
    /// A page of the saved documents of a profile, or of those that match a search, newest first.
    struct Listing: Sendable {
        /// Returns the list that cursors name.
        static func list(_ search: DocumentSearch?) -> PagedList {
            let key: [CursorValue.Kind] = search == nil ? [.integer, .integer] : [.integer]
            return PagedList("pdf.list", filter: search?.text, key: key)
        }

        /// A row of the list.
        struct Row: Sendable, Equatable {
            var id: String
            var name: String
            var created: Date
            var length: Int
            var pageCount: Int
        }

        var page: ListPage<Row>
        /// All saved documents.
        var count: Int
        var revision: Int
        /// The storage that the profile uses.
        var usage: StorageUsage
        /// The words that names were searched for in place of those of the text; nil if they were those.
        var variant: SearchVariant?
    }

    /// Returns a page of the list with its total and revision.
    ///
    /// - Parameter search: nil for all saved documents.
    func list(profile: String, page: PageRequest, _ search: DocumentSearch?) throws -> Listing {
        try users.read { db in
            let (revision, count, usage) = try Self.counts(of: profile, db)
            var found: ListPage<Listing.Row>
            var variant: SearchVariant?
            if let search {
                let request = SearchHits.Request(limit: page.limit, offset: page.offset, before: page.key?[0].integer)
                let hits = try Self.hits(search, of: profile, request, db)
                let select = try db.cachedStatement(sql: Self.selectRanked)
                let rows = try hits.ranks.compactMap { rank in
                    try Listing.Row.fetchOne(select, arguments: ["profile": profile, "rank": rank])
                }
                found = ListPage(rows, of: hits)
                variant = hits.variant
            } else {
                found = try Self.saved.page(page, ["profile": profile], db, Listing.Row.init)
                found.total = count
            }
            return Listing(page: found, count: count, revision: revision, usage: usage, variant: variant)
        }
    }

    /// Returns the revision of a profile's list.
    func revision(profile: String) throws -> Int {
        try users.read { try Self.counts(of: profile, $0).revision }
    }

    /// Returns the names of a profile's documents and drafts that were made in the minute before an instant, or later.
    func names(profile: String, around instant: Date) throws -> Set<String> {
        try users.read { try Self.names(profile, around: instant, $0) }
    }

    static func names(_ profile: String, around instant: Date, _ db: Database) throws -> Set<String> {
        try String.fetchSet(
            try db.cachedStatement(sql: selectNames),
            arguments: ["profile": profile, "since": instant.addingTimeInterval(-60).millisecondsSince1970]
        )
    }

    /// Each half has an index of its own.
    private static let selectNames = """
        SELECT name FROM pdf_document
        WHERE profile = :profile AND created >= :since AND draft_until IS NULL AND trashed IS NULL
        UNION ALL
        SELECT name FROM pdf_document
        WHERE profile = :profile AND created >= :since AND draft_until IS NOT NULL
        """

    static func counts(of profile: String, _ db: Database) throws -> (revision: Int, saved: Int, usage: StorageUsage) {
        let row = try Row.fetchOne(try db.cachedStatement(sql: selectCounts), arguments: [profile])
        let usage = try StorageUsage(bytes: row?.size(2) ?? 0, trash: row?.size(3) ?? 0, drafts: row?.size(4) ?? 0)
        return try (row?.size(0) ?? 0, row?.size(1) ?? 0, usage)
    }

    static let selectCounts =
        "SELECT revision, saved, bytes, trash_bytes, draft_bytes FROM pdf_profile WHERE profile = ?"
    static let saved = PagedQuery(
        "SELECT * FROM pdf_document WHERE profile = :profile AND draft_until IS NULL AND trashed IS NULL",
        by: ["created", "sequence"],
        descending: true
    )
}

extension Document {
    var row: DocumentStore.Listing.Row {
        .init(id: id, name: name, created: created, length: blob.length, pageCount: pages.count)
    }
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

extension DocumentStore {
    /// Returns the saved documents of a profile without their pages, newest first, with their page counts.
    func savedDocuments(profile: String) throws -> [(document: Document, pageCount: Int)] {
        try users.read { db in
            let arguments: StatementArguments = ["profile": profile, "limit": -1, "offset": 0]
            return try Row.fetchAll(try db.cachedStatement(sql: Self.saved.first), arguments: arguments).map {
                try (Document(row: $0, pages: []), $0.size("page_count"))
            }
        }
    }
}

extension Date {
    /// The instant in the precision of the tables, so that a new document equals the one that is read later.
    var wholeMilliseconds: Date { Date(millisecondsSince1970: millisecondsSince1970) }
}

extension Document {
    init(row: Row, pages: [DocumentPage]) throws {
        try self.init(
            sequence: row.value("sequence"),
            id: row.value("id"),
            version: row.value("version"),
            name: row.value("name"),
            created: row.date("created"),
            draftUntil: row.date("draft_until"),
            blob: Blob(id: row.value("blob_id"), length: row.size("length")),
            pages: pages
        )
    }
}

extension DocumentPage: FetchableRecord {
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            kind: row.value("kind", Kind.init(rawValue:)),
            width: row.value("width"),
            height: row.value("height"),
            rotation: row.value("rotation") { (0..<360).contains($0) ? $0 : nil },
            content: row.value("content")
        )
    }
}

/// The search index of the names of saved documents. Every write of a row updates it in the same transaction: triggers
/// cannot write its table.
extension DocumentStore {
    /// The terms of the names. A name is entered under the rank of its document, so that the newest is read first.
    static let names = SearchIndex("pdf_term")
    /// The words of the names.
    static let vocabulary = SearchVocabulary("pdf_word")

    /// The bits of a rank that are the sequence: fewer than two million documents are made in a millisecond.
    private static let sequenceBits: Int64 = 21
    private static let sequenceMask: Int64 = 1 << sequenceBits - 1

    /// Returns the rank of a document: the millisecond of its creation, and its sequence, by which the list is ordered.
    static func rank(created: Int64, sequence: Int64) -> Int64 {
        max(0, min(created, 1 << (62 - sequenceBits))) << sequenceBits | sequence & sequenceMask
    }

    /// Returns a profile as the owner of terms. Two profiles may have the same number: the rows decide.
    static func owner(ofTerms profile: String) -> Int64 { Int64(profile.stableHash & 0xFFFF_FFFF) }

    /// Updates the index when a document is inserted, changed or deleted. Drafts are not in it.
    ///
    /// - Parameters:
    ///   - old: The stored document; nil for a new one.
    ///   - new: The document after the change; nil for a deleted one.
    static func changeName(of old: Document?, to new: Document?, profile: String, _ db: Database) throws {
        let (old, new) = (old.flatMap { $0.isDraft ? nil : $0 }, new.flatMap { $0.isDraft ? nil : $0 })
        guard let document = old ?? new, old?.name != new?.name else { return }
        let rank = rank(created: document.created.millisecondsSince1970, sequence: document.sequence)
        let owner = owner(ofTerms: profile)
        var oldWords: Set<String> = []
        if old != nil {
            let select = try db.cachedStatement(sql: "SELECT folded FROM pdf_document WHERE sequence = ?")
            let folded = try String.fetchOne(select, arguments: [document.sequence]) ?? ""
            try names.delete(SearchTerms.parts(of: folded), of: owner, at: rank, db)
            oldWords = StoredWords.words(of: folded)
        }
        let folded = new?.name.partFolded ?? ""
        if new != nil { try names.insert(SearchTerms.parts(of: folded), of: owner, at: rank, db) }
        try vocabulary.change(oldWords, to: StoredWords.words(of: folded), of: owner, db)
    }

    /// Finds the documents of a profile that match a search, the newest first.
    static func hits(_ search: DocumentSearch, of profile: String, _ page: SearchHits.Request, _ db: Database) throws
        -> SearchHits
    {
        let owner = owner(ofTerms: profile)
        let terms = names.search(search.terms, of: owner)
        var arguments: StatementArguments = ["profile": profile]
        for (index, word) in search.words.enumerated() { arguments += ["word\(index)": word] }
        let plain = try SearchHits(selectHits(words: search.words.count), terms, arguments, page, db)
        return try plain.orVariants(of: search.text, among: vocabulary.words(of: owner, db)) { variant in
            let arguments: StatementArguments = ["profile": profile, "variant": variant.json]
            let terms = names.partSearch(variant, of: owner)
            return try SearchHits(
                selectHits(SearchVariant.condition(on: "document.folded")),
                terms,
                arguments,
                page,
                db
            )
        }
    }

    /// Returns the statement of a search. For each row with the terms it looks up whether the name contains all words,
    /// and whether it is a listed document of the profile.
    static func selectHits(words: Int) -> String {
        selectHits((0..<words).map { "instr(document.folded, :word\($0)) > 0" }.joined(separator: " AND "))
    }

    private static func selectHits(_ hasWords: String) -> String {
        """
        SELECT pdf_term.rowid AS rank, EXISTS (
            SELECT 1 FROM pdf_document AS document WHERE \(isRanked("pdf_term.rowid")) AND \(hasWords)
        ) AS is_hit
        FROM pdf_term WHERE pdf_term MATCH :terms AND pdf_term.rowid < :before ORDER BY pdf_term.rowid DESC
        """
    }

    static let selectRanked = "SELECT * FROM pdf_document AS document WHERE \(isRanked(":rank"))"

    private static func isRanked(_ rank: String) -> String {
        """
        document.profile = :profile AND document.draft_until IS NULL AND document.trashed IS NULL
            AND document.created = \(rank) >> \(sequenceBits)
            AND document.sequence & \(sequenceMask) = \(rank) & \(sequenceMask)
        """
    }

    /// Updates the index of names for a row that is applied from the journal, as a write of a document does by itself.
    @Sendable static func indexName(_ db: Database, _ update: JournalTables.RowUpdate) throws {
        let (old, new) = (try update.before.flatMap(ListedName.init), try update.after.flatMap(ListedName.init))
        guard old != new else { return }
        if let old { try names.delete(SearchTerms.parts(of: old.folded), of: old.owner, at: old.rank, db) }
        if let new { try names.insert(SearchTerms.parts(of: new.folded), of: new.owner, at: new.rank, db) }
        if let old { try vocabulary.change(StoredWords.words(of: old.folded), to: [], of: old.owner, db) }
        if let new { try vocabulary.change([], to: StoredWords.words(of: new.folded), of: new.owner, db) }
    }

    /// The entry of a listed document.
    private struct ListedName: Equatable {
        let rank: Int64
        let owner: Int64
        let folded: String

        init?(_ row: Row) throws {
            guard try row.value("draft_until") as Int64? == nil, try row.value("trashed") as Int64? == nil else {
                return nil
            }
            rank = try DocumentStore.rank(created: row.value("created"), sequence: row.value("sequence"))
            owner = try DocumentStore.owner(ofTerms: row.value("profile"))
            folded = try row.value("folded")
        }
    }

    /// Enters the words of the names of all documents.
    static func enterWords(_ db: Database) throws {
        try db.execute(sql: vocabulary.creation)
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM pdf_document ORDER BY sequence")
        while let name = try rows.next() {
            guard let name = try ListedName(name) else { continue }
            try vocabulary.change([], to: StoredWords.words(of: name.folded), of: name.owner, db)
        }
    }

    /// Adds the index to a database in which names were searched one by one.
    static func indexNames(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE pdf_document ADD COLUMN folded TEXT NOT NULL DEFAULT ''; -- the name as searches compare it
                \(names.creation)
                """
        )
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM pdf_document ORDER BY created, sequence")
        for row in rows {
            let (name, sequence): (String, Int64) = try (row.value("name"), row.value("sequence"))
            let folded = name.partFolded
            try db.cachedStatement(sql: "UPDATE pdf_document SET folded = ? WHERE sequence = ?")
                .execute(arguments: [folded, sequence])
            guard try row.value("draft_until") as Int64? == nil else { continue }
            let rank = try rank(created: row.value("created"), sequence: sequence)
            try names.insert(SearchTerms.parts(of: folded), of: owner(ofTerms: row.value("profile")), at: rank, db)
        }
        try names.optimize(db)
    }
}
