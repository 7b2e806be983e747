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
                let hits = try Self.hits(search, text: text, account: account, page: page, db)
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

extension NoteStore {
    /// Bytes that a note counts beside its texts, for its row and its entries for words, places and clusters.
    static let bytesBeside = 1024

    /// The bytes that each account stores, kept by triggers, because each write checks them against the quota.
    static let usageCounters = """
        ALTER TABLE notes_account ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of its notes, in the trash or not
        ALTER TABLE notes_account ADD COLUMN trash_bytes INTEGER NOT NULL DEFAULT 0; -- those of them in the trash
        UPDATE notes_account SET trash_bytes =
            (SELECT coalesce(sum(\(size(of: "note_trash"))), 0) FROM note_trash WHERE account = notes_account.id);
        UPDATE notes_account SET bytes = trash_bytes +
            (SELECT coalesce(sum(\(size(of: "note"))), 0) FROM note WHERE account = notes_account.id);

        CREATE TRIGGER note_stored AFTER INSERT ON note BEGIN
            UPDATE notes_account SET bytes = bytes + \(size(of: "new")) WHERE id = new.account;
        END;
        CREATE TRIGGER note_resized AFTER UPDATE OF body, location_name ON note BEGIN
            UPDATE notes_account SET bytes = bytes + \(size(of: "new")) - \(size(of: "old")) WHERE id = new.account;
        END;
        CREATE TRIGGER note_unstored AFTER DELETE ON note BEGIN
            UPDATE notes_account SET bytes = bytes - \(size(of: "old")) WHERE id = old.account;
        END;
        CREATE TRIGGER note_trash_stored AFTER INSERT ON note_trash BEGIN
            UPDATE notes_account SET
                bytes = bytes + \(size(of: "new")), trash_bytes = trash_bytes + \(size(of: "new"))
            WHERE id = new.account;
        END;
        CREATE TRIGGER note_trash_unstored AFTER DELETE ON note_trash BEGIN
            UPDATE notes_account SET
                bytes = bytes - \(size(of: "old")), trash_bytes = trash_bytes - \(size(of: "old"))
            WHERE id = old.account;
        END;
        """

    func usage(account: Int64) throws -> StorageUsage {
        try users.read { try Self.usage(account, $0) }
    }

    static func usage(_ account: Int64, _ db: Database) throws -> StorageUsage { try state(account, db).usage }

    /// Returns the number of the last change of an account's notes, and the bytes that the account stores.
    static func state(_ account: Int64, _ db: Database) throws -> (revision: Int, usage: StorageUsage) {
        let select = try db.cachedStatement(sql: "SELECT bytes, trash_bytes, revision FROM notes_account WHERE id = ?")
        let row = try Row.fetchOne(select, arguments: [account])
        let usage = try StorageUsage(bytes: row?.size(0) ?? 0, trash: row?.size(1) ?? 0)
        return (try row?.value(2) ?? 0, usage)
    }

    private static func size(of row: String) -> String {
        "(length(CAST(\(row).body AS BLOB)) + length(CAST(\(row).location_name AS BLOB)) + \(bytesBeside))"
    }
}
