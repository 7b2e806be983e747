import Database
import Foundation
import GRDB

extension DiskStore {
    /// Returns the rows whose name contains a text, by name, and their total number.
    ///
    /// - Parameter lastPart: Offset of the last part of the list of all files, if all of it is stored: a file that is
    ///   not in it, and that no list has shown since, is not there any more.
    func search(_ text: String, account: String, lastPart: Int?, limit: Int, offset: Int) throws -> (
        rows: [DiskRow], total: Int
    ) {
        let arguments: StatementArguments = [
            "account": account, "owner": Self.owner(account), "needle": Self.folded(text), "last_part": lastPart,
        ]
        return try database.read { db in
            let found = try Row.fetchAll(
                db,
                sql: Self.selectFound,
                arguments: arguments + ["limit": limit, "offset": offset]
            )
            let total = try Int.fetchOne(db, sql: Self.countFound, arguments: arguments) ?? 0
            return (try diskRows(found, account: account, db), total)
        }
    }

    /// Returns a text as searches compare it: composed and in lower case.
    static func folded(_ text: String) -> String {
        text.precomposedStringWithCompatibilityMapping.lowercased()
    }

    static let selectFound = "SELECT * \(found) ORDER BY folded, path LIMIT :limit OFFSET :offset"
    static let countFound = "SELECT count(*) \(found)"
    private static let found = """
        FROM disk_item WHERE account = :account AND path >= 'disk:/' AND path < 'disk:0' AND instr(folded, :needle) > 0
        AND (
            kind = 'dir' OR :last_part IS NULL
            OR seen_at > (
                SELECT min(fetched_at) FROM page
                WHERE account = :owner AND screen = 'all' AND page_offset <= :last_part
            )
            OR EXISTS (
                SELECT 1 FROM page_row JOIN page ON page.id = page_row.page_id
                WHERE page_row.account = :owner AND page_row.row_key = disk_item.path
                AND page.screen = 'all' AND page.page_offset <= :last_part
            )
        )
        """
}
