import Database
import Foundation
import GRDB
import TextSearch

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
            var changes = NameChanges(account)
            for row in try Row.fetchAll(db, sql: selectUnranked, arguments: [account]) {
                let (path, name): (String, String) = (row["path"], row["name"])
                let modified = (row["modified"] as Int64?).map(Date.init(millisecondsSince1970:))
                let rank = try rank(of: path, account: account, modified: modified) { try isTaken($0, db) }
                let folded = name.searchFolded
                try db.cachedStatement(sql: setRank).execute(arguments: [rank, folded, account, path])
                changes.insert(IndexedName(rank: rank, folded: folded))
            }
            try changes.write(db)
        }
    }

    private static let selectUnranked = """
        SELECT path, name, modified FROM disk_item WHERE account = ? AND path >= 'disk:/' AND path < 'disk:0'
        """
    private static let setRank = "UPDATE disk_item SET rank = ?, folded = ? WHERE account = ? AND path = ?"
}
