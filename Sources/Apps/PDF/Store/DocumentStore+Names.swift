import Database
import Foundation
import GRDB
import TextSearch

/// The index of the names of saved documents, by which a search finds them. Every write of a row keeps it in its
/// transaction: its table may not be written by triggers.
extension DocumentStore {
    /// The terms of the names. A name is entered under the rank of its document, so that the newest is read first.
    static let names = SearchIndex("pdf_term")

    /// The bits of a rank that are the sequence: fewer than two million documents are made in a millisecond.
    private static let sequenceBits: Int64 = 21
    private static let sequenceMask: Int64 = 1 << sequenceBits - 1

    /// Returns the rank of a document: the millisecond of its creation, and its sequence, by which the list is ordered.
    static func rank(created: Int64, sequence: Int64) -> Int64 {
        max(0, min(created, 1 << (62 - sequenceBits))) << sequenceBits | sequence & sequenceMask
    }

    /// The rank of a row, as PostgreSQL computes it.
    static let rankExpression = """
        greatest(0, least(created, \(Int64(1) << (62 - sequenceBits)))) << \(sequenceBits)
            | (sequence & \(sequenceMask))
        """

    /// Returns a profile as the owner of terms. Two profiles may have the same number: the rows say whose they are.
    static func owner(ofTerms profile: String) -> Int64 { Int64(profile.stableHash & 0xFFFF_FFFF) }

    /// Keeps the index when a document is inserted, changed or deleted. Drafts are not in it.
    ///
    /// - Parameters:
    ///   - old: The document as its row is; nil for a new one.
    ///   - new: The document as it will be; nil for a deleted one.
    static func changeName(of old: Document?, to new: Document?, profile: String, _ db: Database) throws {
        let (old, new) = (old.flatMap { $0.isDraft ? nil : $0 }, new.flatMap { $0.isDraft ? nil : $0 })
        guard let document = old ?? new, old?.name != new?.name else { return }
        let rank = rank(created: document.created.millisecondsSince1970, sequence: document.sequence)
        let owner = owner(ofTerms: profile)
        if old != nil {
            let select = try db.cachedStatement(sql: "SELECT folded FROM pdf_document WHERE sequence = ?")
            let folded = try String.fetchOne(select, arguments: [document.sequence]) ?? ""
            try names.delete(SearchTerms.parts(of: folded), of: owner, at: rank, db)
        }
        if let new { try names.insert(SearchTerms.parts(of: new.name.partFolded), of: owner, at: rank, db) }
    }

    /// Finds the documents of a profile that match a search, the newest first.
    static func hits(_ search: DocumentSearch, of profile: String, _ page: SearchHits.Request, _ db: Database) throws
        -> SearchHits
    {
        let terms = names.search(search.terms, of: owner(ofTerms: profile))
        var arguments: StatementArguments = ["profile": profile]
        for (index, word) in search.words.enumerated() { arguments += ["word\(index)": word] }
        return try SearchHits(selectHits(words: search.words.count), terms, arguments, page, db)
    }

    /// Whether a name has all words, each anywhere, and whose it is, is looked up for each row that has the terms.
    static func selectHits(words: Int) -> String {
        let hasWords = (0..<words).map { "AND instr(document.folded, :word\($0)) > 0" }.joined(separator: " ")
        return """
            SELECT pdf_term.rowid AS rank, EXISTS (
                SELECT 1 FROM pdf_document AS document WHERE \(isRanked("pdf_term.rowid")) \(hasWords)
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

    /// Enters the names of all documents, whose rows were copied, into the empty index.
    static func indexAll(_ db: Database) throws {
        let sql = """
            SELECT sequence, profile, created, folded FROM pdf_document WHERE draft_until IS NULL AND trashed IS NULL
            ORDER BY created, sequence
            """
        let rows = try Row.fetchCursor(db, sql: sql)
        while let row = try rows.next() {
            let rank = try rank(created: row.value("created"), sequence: row.value("sequence"))
            let owner = try owner(ofTerms: row.value("profile"))
            try names.insert(SearchTerms.parts(of: row.value("folded")), of: owner, at: rank, db)
        }
        try names.optimize(db)
    }

    /// Names were looked through one by one.
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
