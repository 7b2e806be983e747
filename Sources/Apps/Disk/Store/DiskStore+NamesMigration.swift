import Foundation
import GRDB
import Storage

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

    /// Half a flag, and the halves of two, were parts of a name.
    static func joinFlags(_ db: Database) throws {
        for account in try String.fetchAll(db, sql: "SELECT DISTINCT account FROM disk_item") {
            var changes = NameChanges(account)
            for row in try Row.fetchAll(db, sql: selectFlags, arguments: [account]) {
                let (path, name): (String, String) = try (row.value("path"), row.value("name"))
                guard let old = try IndexedName(row: row) else { continue }
                let folded = name.partFolded
                try db.execute(
                    sql: "UPDATE disk_item SET folded = ? WHERE account = ? AND path = ?",
                    arguments: [folded, account, path]
                )
                changes.remove(old)
                // The removal of a name is forgotten if it is inserted under the same rank before that is written.
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
