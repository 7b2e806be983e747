import Foundation
import GRDB
import Storage

/// A name in the index.
struct IndexedName: Equatable {
    let rank: Int64
    /// The name as searches compare it.
    let folded: String

    init(rank: Int64, folded: String) {
        (self.rank, self.folded) = (rank, folded)
    }

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
    /// Names to remove and to insert, by rank.
    private var (removed, inserted): ([Int64: IndexedName], [Int64: IndexedName]) = ([:], [:])

    /// Collects changes of an account.
    init(_ account: String) {
        self.account = account
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

    /// Writes the collected changes.
    mutating func write(_ db: Database) throws {
        for rank in Set(removed.keys).union(inserted.keys).sorted() {
            // A rank that is free again may have been given to another name.
            if let name = removed[rank] {
                try DiskStore.names.delete(SearchTerms.parts(of: name.folded), of: owner, at: rank, db)
            }
            if let name = inserted[rank] {
                try DiskStore.names.insert(SearchTerms.parts(of: name.folded), of: owner, at: rank, db)
            }
        }
        (removed, inserted) = ([:], [:])
    }
}
