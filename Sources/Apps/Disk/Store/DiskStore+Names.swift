import Foundation
import GRDB
import Storage

/// The index of the names on a Disk, by which a search finds them. Every write of a row keeps it in its transaction:
/// its table may not be written by triggers.
extension DiskStore {
    /// The terms of the names. A name is entered under the rank of its row, so that the last modified is read first.
    static let names = SearchIndex("disk_term")
    /// The words of the names.
    static let vocabulary = SearchVocabulary("disk_word")

    /// Returns an account as the owner of terms. Two accounts may have the same number: the rows say whose they are.
    static func owner(ofTerms account: String) -> Int64 {
        Int64(account.stableHash & 0xFFFF_FFFF)
    }

    /// Returns a rank for a row: the second of its last modification, and a number that no other row has.
    ///
    /// - Parameter isTaken: Whether a row has a rank.
    static func rank(
        of path: String,
        account: String,
        modified: Date?,
        isTaken: (Int64) throws -> Bool
    ) rethrows -> Int64 {
        let seconds = Int64(max(0, min(modified?.timeIntervalSince1970 ?? 0, 0x1_FFFF_FFFF)))
        var number = Int64((account + "\n" + path).stableHash & 0xFFF_FFFF)
        while try isTaken(seconds << 28 | number) { number = (number + 1) & 0xFFF_FFFF }
        return seconds << 28 | number
    }

    static func isTaken(_ rank: Int64, _ db: Database) throws -> Bool {
        try Int.fetchOne(try db.cachedStatement(sql: selectRank), arguments: [rank]) != nil
    }

    /// Deletes rows and their names.
    ///
    /// - Parameter sql: Deletes rows of table `disk_item` of one account and returns `rank` and `folded`.
    static func deleteRows(_ sql: String, _ arguments: StatementArguments, account: String, _ db: Database) throws {
        var changes = NameChanges(account)
        for row in try Row.fetchAll(try db.cachedStatement(sql: sql), arguments: arguments) {
            if let name = try IndexedName(row: row) { changes.remove(name) }
        }
        try changes.write(db)
    }

    static func deleteRows(of account: String, _ db: Database) throws {
        if try Bool.fetchOne(db, sql: hasOthers, arguments: ["account": account]) == false {
            try names.deleteAll(db)
            try vocabulary.deleteAll(of: owner(ofTerms: account), db)
            try db.execute(sql: "DELETE FROM disk_item")
        } else {
            try deleteRows(deleteAllItems, [account], account: account, db)
        }
    }

    static let selectRank = "SELECT 1 FROM disk_item WHERE rank = ?"
    static let deleteAllItems = "DELETE FROM disk_item WHERE account = ? RETURNING rank, folded"
    private static let hasOthers = """
        SELECT EXISTS (SELECT 1 FROM disk_item WHERE account < :account)
            OR EXISTS (SELECT 1 FROM disk_item WHERE account > :account)
        """
}

struct IndexedName: Equatable {
    let rank: Int64
    /// The name as searches compare it.
    let folded: String
}

extension IndexedName {
    /// Reads `rank` and `folded` of a row of table `disk_item`; nil if its name is not in the index.
    init?(row: Row) throws {
        guard let rank: Int64 = try row.value("rank") else { return nil }
        self.init(rank: rank, folded: try row.value("folded"))
    }
}

/// Changes of the index of names, collected: they are written in the order of ranks, which is much faster.
struct NameChanges {
    private let account: String
    private let owner: Int64
    private let hasWords: Bool
    private var (removed, inserted): ([Int64: IndexedName], [Int64: IndexedName]) = ([:], [:])

    /// Collects changes of an account.
    ///
    /// - Parameter hasWords: Whether there is the table of words, which earlier migrations lack.
    init(_ account: String, hasWords: Bool = true) {
        (self.account, self.hasWords) = (account, hasWords)
        owner = DiskStore.owner(ofTerms: account)
    }

    mutating func remove(_ name: IndexedName) {
        if inserted.removeValue(forKey: name.rank) == nil { removed[name.rank] = name }
    }

    mutating func insert(_ name: IndexedName) { inserted[name.rank] = name }

    /// Enters the name of an item that is stored next.
    ///
    /// - Parameter old: The row of table `disk_item` that it replaces.
    /// - Returns: The rank that the row gets; nil if it is not searched, as the trash is not.
    mutating func enter(_ item: DiskItem, folded: String, replacing old: Row?, _ db: Database) throws -> Int64? {
        let before = try old.flatMap(IndexedName.init(row:))
        guard item.path.scheme == .disk else { return nil }
        if let before, before.folded.utf8.elementsEqual(folded.utf8),
            try item.modified?.millisecondsSince1970 == old?.value("modified")
        {
            return before.rank
        }
        if let before { remove(before) }
        let rank = try DiskStore.rank(of: item.path.text, account: account, modified: item.modified) { rank in
            try rank != before?.rank && DiskStore.isTaken(rank, db)
        }
        insert(IndexedName(rank: rank, folded: folded))
        return rank
    }

    mutating func write(_ db: Database) throws {
        for rank in Set(removed.keys).union(inserted.keys).sorted() {
            // A rank that is free again may have been given to another name.
            if let name = removed[rank] {
                try DiskStore.names.delete(SearchTerms.parts(of: name.folded), of: owner, at: rank, db)
            }
            if let name = inserted[rank] {
                try DiskStore.names.insert(SearchTerms.parts(of: name.folded), of: owner, at: rank, db)
            }
            guard hasWords else { continue }
            let before = StoredWords.words(of: removed[rank]?.folded ?? "")
            let after = StoredWords.words(of: inserted[rank]?.folded ?? "")
            try DiskStore.vocabulary.change(before, to: after, of: owner, db)
        }
        (removed, inserted) = ([:], [:])
    }
}

extension DiskStore {
    /// Names were looked through one by one. The rows get ranks, and their names are folded as searches compare them
    /// now.
    static func indexNames(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE disk_item ADD COLUMN rank INTEGER; -- the row's number in disk_term; NULL in the trash
                CREATE UNIQUE INDEX disk_item_by_rank ON disk_item (rank);
                \(names.creation)
                """
        )
        for account in try String.fetchAll(db, sql: "SELECT DISTINCT account FROM disk_item") {
            var changes = NameChanges(account, hasWords: false)
            for row in try Row.fetchAll(db, sql: selectUnranked, arguments: [account]) {
                let (path, name): (String, String) = try (row.value("path"), row.value("name"))
                let modified: Date? = try row.date("modified")
                let rank = try rank(of: path, account: account, modified: modified) { try isTaken($0, db) }
                let folded = name.partFolded
                try db.cachedStatement(sql: setRank).execute(arguments: [rank, folded, account, path])
                changes.insert(IndexedName(rank: rank, folded: folded))
            }
            try changes.write(db)
        }
        try names.optimize(db)
    }

    static func enterWords(_ db: Database) throws {
        try db.execute(sql: vocabulary.creation)
        let rows = try Row.fetchCursor(db, sql: "SELECT account, folded FROM disk_item WHERE rank IS NOT NULL")
        while let row = try rows.next() {
            let (account, folded): (String, String) = try (row.value(0), row.value(1))
            try vocabulary.change([], to: StoredWords.words(of: folded), of: owner(ofTerms: account), db)
        }
    }

    /// Half a flag, and the halves of two, were parts of a name.
    static func joinFlags(_ db: Database) throws {
        for account in try String.fetchAll(db, sql: "SELECT DISTINCT account FROM disk_item") {
            var changes = NameChanges(account, hasWords: false)
            for row in try Row.fetchAll(db, sql: selectFlags, arguments: [account]) {
                let (path, name): (String, String) = try (row.value("path"), row.value("name"))
                guard let old = try IndexedName(row: row) else { continue }
                let folded = name.partFolded
                try db.execute(
                    sql: "UPDATE disk_item SET folded = ? WHERE account = ? AND path = ?",
                    arguments: [folded, account, path]
                )
                changes.remove(old)
                // The removal of a name is cancelled if the name is inserted under the same rank before the removal is
                // written.
                try changes.write(db)
                changes.insert(IndexedName(rank: old.rank, folded: folded))
                try changes.write(db)
            }
        }
    }

    private static let selectFlags = """
        SELECT path, name, rank, folded FROM disk_item
        WHERE account = ? AND folded GLOB '*[\u{1F1E6}-\u{1F1FF}]*'
        """
    private static let selectUnranked = """
        SELECT path, name, modified FROM disk_item WHERE account = ? AND path >= 'disk:/' AND path < 'disk:0'
        """
    private static let setRank = "UPDATE disk_item SET rank = ?, folded = ? WHERE account = ? AND path = ?"
}
