import Cluster
import Foundation
import GRDB
import Screens
import Storage

/// A page of an account's notes, or of those that match a search, read in one transaction.
struct NotePage: Sendable {
    let page: ListPage<NoteOutline>
    /// Notes of the account.
    let all: Int
    let revision: Int
    let usage: StorageUsage
    /// The words that notes were searched for in place of those of the text; nil if they were those.
    var variant: SearchVariant?

    /// Returns the list over all its pages: all notes, or those that match a search.
    static func list(_ search: NoteQuery?) -> PagedList {
        PagedList("notes.list", filter: search?.normalized, key: [.integer])
    }
}

extension NoteStore {
    /// Returns a page of an account's notes, the last saved first; with a search those that match it.
    ///
    /// - Parameter text: The text of the search, for other words if no note has those; nil for none.
    func list(account: Int64, page: PageRequest, search: NoteQuery?, text: String? = nil) throws -> NotePage {
        try users.read { db in
            let all = try Self.count(account, db)
            let (revision, usage) = try Self.state(account, db)
            var found: ListPage<NoteOutline>
            var variant: SearchVariant?
            if let search {
                let hits =
                    try text.map { try Self.hits($0, search, account: account, page: page, db) }
                    ?? Self.hits(search, account: account, page: page, db)
                variant = hits.variant
                let words = variant == nil ? search.words : SearchWords()
                let notes = try Self.outlines(hits.ranks, account: account, words: words, db)
                found = ListPage(notes, of: hits) { Int64(Self.revision(ofRank: $0)) }
            } else {
                found = try Self.listedNotes.page(page, ["account": account], db, NoteOutline.init)
                found.total = all
            }
            return NotePage(page: found, all: all, revision: revision, usage: usage, variant: variant)
        }
    }

    /// Returns the number of an account's notes: the sum of the sixteen cells of the coarsest grid.
    static func count(_ account: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            try db.cachedStatement(sql: "SELECT coalesce(sum(notes), 0) FROM note_cell WHERE account = ? AND zoom = 0"),
            arguments: [account]
        ) ?? 0
    }

    static let listedNotes = PagedQuery(
        "SELECT \(NoteOutline.columns) FROM note WHERE account = :account",
        by: ["revision"],
        descending: true
    )
}
