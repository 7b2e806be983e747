import Cluster
import Foundation
import GRDB
import Screens
import Storage

/// A page of an account's notes, read in one transaction.
struct NotePage: Sendable {
    let notes: [NoteOutline]
    let hasMore: Bool
    /// The revision after which the next page begins.
    let next: Int?
    /// Whether the next page is read by ``next`` only, not by an offset (`SearchHits.isCut`).
    let isCut: Bool
    /// Notes that match; nil if more than are counted.
    let total: Int?
    /// How many match at least, if they are not counted to the end.
    let totalAtLeast: Int?
    /// Notes of the account.
    let all: Int
    let revision: Int
    let usage: StorageUsage

    /// Returns the list over all its pages: all notes, or those that match a search.
    static func list(_ search: WordQuery?) -> PagedList {
        PagedList("notes.list", filter: search?.normalized, key: [.integer])
    }
}

extension NoteStore {
    /// Returns a page of an account's notes, the last saved first; with a search those that match it.
    func list(account: Int64, page: PageRequest, search: WordQuery?) throws -> NotePage {
        try users.read { db in
            let all = try Self.count(account, db)
            let (revision, usage) = try Self.state(account, db)
            if let search {
                let hits = try Self.hits(search, account: account, page: page, db)
                return NotePage(
                    notes: try Self.outlines(hits.ranks, account: account, db),
                    hasMore: hits.hasMore,
                    next: hits.next.map(Self.revision(ofRank:)),
                    isCut: hits.isCut,
                    total: hits.total,
                    totalAtLeast: hits.totalAtLeast,
                    all: all,
                    revision: revision,
                    usage: usage
                )
            }
            let (notes, hasMore) = try Self.page(account, page, db)
            return NotePage(
                notes: notes,
                hasMore: hasMore,
                next: notes.last?.revision,
                isCut: false,
                total: all,
                totalAtLeast: nil,
                all: all,
                revision: revision,
                usage: usage
            )
        }
    }

    /// Returns a page of an account's notes, and whether notes follow.
    private static func page(_ account: Int64, _ page: PageRequest, _ db: Database) throws -> ([NoteOutline], Bool) {
        var arguments: StatementArguments = ["account": account, "limit": page.limit + 1]
        arguments += page.key.map { ["revision": $0[0]] } ?? ["offset": page.offset]
        let select = page.key == nil ? selectPage : selectPageAfterKey
        let notes = try NoteOutline.fetchAll(db.cachedStatement(sql: select), arguments: arguments)
        return (Array(notes.prefix(page.limit)), notes.count > page.limit)
    }

    /// Returns the number of an account's notes: the sum of the sixteen cells of the coarsest grid.
    static func count(_ account: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            try db.cachedStatement(sql: "SELECT coalesce(sum(notes), 0) FROM note_cell WHERE account = ? AND zoom = 0"),
            arguments: [account]
        ) ?? 0
    }

    static let selectPage = """
        SELECT \(NoteOutline.columns) FROM note WHERE account = :account
        ORDER BY revision DESC LIMIT :limit OFFSET :offset
        """

    static let selectPageAfterKey = """
        SELECT \(NoteOutline.columns) FROM note WHERE account = :account AND revision < :revision
        ORDER BY revision DESC LIMIT :limit
        """
}
