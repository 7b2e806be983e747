import Foundation
import GRDB
import Screens
import Storage

extension DiskStore {
    /// Returns the rows whose name contains a text, the last modified first.
    ///
    /// - Parameter lastPart: Offset of the last part of the list of all files, if all of it is stored: a file that is
    ///   not in it, and that no list has shown since, is not there any more.
    /// - Parameter isCounted: Whether the number of all hits is needed.
    func search(
        _ query: PartQuery,
        account: String,
        lastPart: Int?,
        page: PageRequest,
        isCounted: Bool = true
    ) throws -> (rows: [DiskRow], hits: SearchHits) {
        guard !query.isEmpty else { return ([], SearchHits()) }
        let arguments: StatementArguments = [
            "account": account, "owner": Self.owner(account), "needle": query.text, "last_part": lastPart,
        ]
        let terms = Self.names.search(query.terms, of: Self.owner(ofTerms: account))
        let request = SearchHits.Request(
            limit: page.limit,
            offset: page.offset,
            before: page.key?[0].integer,
            isCounted: isCounted
        )
        return try database.read { db in
            let hits = try SearchHits(Self.selectHits, terms, arguments, request, db)
            let found = try Row.fetchAll(
                db.cachedStatement(sql: Self.selectRanked),
                arguments: [hits.ranks.jsonArray, account]
            )
            return (try diskRows(found, account: account, db), hits)
        }
    }

    /// An index of the columns that a search reads of each row that has its terms. The rows themselves are in as many
    /// pages of the database as there are folders, more than a connection keeps in memory.
    static let searchMigration = SchemaMigration(
        "disk/007 search",
        sql: """
            CREATE INDEX disk_item_by_search ON disk_item (rank, kind, seen_at, folded) WHERE rank IS NOT NULL;
            """
    )

    /// The condition of the rank is a bound of the scan of the index; whether a name has the whole text, whose row it
    /// is and whether it is still there is looked up for each row that has the terms.
    static let selectHits = """
        SELECT disk_term.rowid AS rank, coalesce(
            item.account = :account AND instr(item.folded, :needle) > 0 AND (
                item.kind = 'dir' OR :last_part IS NULL
                OR item.seen_at > (
                    SELECT min(fetched_at) FROM page
                    WHERE account = :owner AND screen = 'all' AND page_offset <= :last_part
                )
                OR EXISTS (
                    SELECT 1 FROM page_row JOIN page ON page.id = page_row.page_id
                    WHERE page_row.account = :owner AND page_row.row_key = item.path
                    AND page.screen = 'all' AND page.page_offset <= :last_part
                )
            ), 0) AS is_hit
        FROM disk_term LEFT JOIN disk_item AS item INDEXED BY disk_item_by_search ON item.rank = disk_term.rowid
        WHERE disk_term MATCH :terms AND disk_term.rowid < :before ORDER BY disk_term.rowid DESC
        """
    static let selectRanked = """
        SELECT item.* FROM json_each(?) AS wanted CROSS JOIN disk_item AS item ON item.rank = wanted.value
        WHERE item.account = ? ORDER BY wanted.key
        """

    /// Returns whether rows follow a stored page, and whether it has rows that cannot be shown; nil if it is not
    /// stored.
    func ending(_ key: PageKey) throws -> (hasMore: Bool, lacksRows: Bool)? {
        try database.read { try pages.ending(key, containing: ListedRow.unreadable.key, in: $0) }.map { ($0, $1) }
    }
}
