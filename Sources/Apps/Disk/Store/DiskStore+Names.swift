import Foundation
import GRDB
import Storage

/// The index of the names on a Disk, by which a search finds them. Every write of a row keeps it in its transaction:
/// its table may not be written by triggers.
extension DiskStore {
    /// The terms of the names. A name is entered under the rank of its row, so that the last modified is read first.
    static let names = SearchIndex("disk_term")

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

    /// Deletes all rows of an account and their names.
    static func deleteRows(of account: String, _ db: Database) throws {
        if try Bool.fetchOne(db, sql: hasOthers, arguments: ["account": account]) == false {
            try names.deleteAll(db)
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
