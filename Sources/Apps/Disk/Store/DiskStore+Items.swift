import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import Upstream

extension DiskStore {
    func row(_ path: DiskPath, account: String) throws -> DiskRow? {
        try database.read { try row(path.text, account: account, $0) }
    }

    /// Returns an item and when the API last listed it, without its stored content; nil if there is none.
    func item(_ path: DiskPath, account: String) throws -> StoredItem? {
        try database.read { db in
            let row = try Row.fetchOne(db.cachedStatement(sql: Self.selectItem), arguments: [account, path.text])
            return try row.flatMap { try ItemColumns(of: $0).item(in: $0) }
        }
    }

    /// Returns the paths at which lists have shown an item with an identifier, the last one first.
    func paths(of resourceID: String, account: String) throws -> [DiskPath] {
        try database.read { db in
            try String.fetchAll(db, sql: Self.selectPaths, arguments: [account, resourceID]).compactMap { DiskPath($0) }
        }
    }

    func known(_ path: DiskPath, account: String, _ db: Database) throws -> DiskItem? {
        try DiskItem.fetchOne(db.cachedStatement(sql: Self.selectItem), arguments: [account, path.text])
    }

    private func row(_ path: String, account: String, _ db: Database) throws -> DiskRow? {
        let rows = try Row.fetchAll(db.cachedStatement(sql: Self.selectItem), arguments: [account, path])
        return try diskRows(rows, account: account, db).first
    }

    /// Returns the rows of a list of keys, in their order, without those that are not there any more.
    func rows(_ keys: [String], account: String, _ db: Database) throws -> [DiskRow] {
        let found = try Row.fetchAll(db.cachedStatement(sql: Self.selectItems), arguments: [account, keys.jsonArray])
        let rows = try diskRows(found, account: account, db)
        let byPath = Dictionary(rows.map { ($0.item.path, $0) }) { first, _ in first }
        return keys.compactMap { key in (DiskPath(key) ?? DiskPath(key, scheme: .trash)).flatMap { byPath[$0] } }
    }

    /// Returns a stored page with its rows and the revision of the account, read in one transaction; nil if it was
    /// never fetched or was evicted.
    func page(_ key: PageKey, account: String) throws -> DiskPage? {
        try database.read { db in
            guard let page = try pages.page(key, in: db) else { return nil }
            return DiskPage(
                try rows(page.rowKeys, account: account, db),
                changedAt: page.changedAt,
                fetchedAt: page.fetchedAt,
                keys: page.rowKeys,
                total: page.total,
                hasMore: page.hasMore,
                revision: try Self.revision(of: account, db)
            )
        }
    }

    /// Returns a stored page with its rows in two statements, for a screen that is made of it at once; nil if it was
    /// never fetched or was evicted.
    ///
    /// - Parameter account: The account, read in the same transaction.
    func storedPage(_ key: PageKey, account: DiskAccount, _ db: Database) throws -> DiskPage? {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: Self.selectPageItems),
            arguments: [account.id, key.account, key.screen, key.query, key.offset, key.limit]
        )
        guard let first = try rows.next() else { return nil }
        let columns = ItemColumns(of: first)
        var items = [try columns.item(in: first)]
        var keys: [String?] = [try first.value(4)]
        let (total, hasMore): (Int?, Bool) = (try first.value(0), try first.value(1))
        let (fetchedAt, changedAt): (Date, Date) = (try first.date(2), try first.date(3))
        while let row = try rows.next() {
            items.append(try columns.item(in: row))
            keys.append(try row.value(4))
        }
        return DiskPage(
            try diskRows(items.compactMap { $0 }, account: account.id, db),
            changedAt: changedAt,
            fetchedAt: fetchedAt,
            keys: keys.compactMap { $0 },
            total: total,
            hasMore: hasMore,
            revision: account.revision
        )
    }

    static let selectPageItems = """
        SELECT page.total AS total_of_list, page.has_more, page.fetched_at, page.changed_at AS page_changed_at,
            page_row.row_key, item.*
        FROM page
        LEFT JOIN page_row ON page_row.page_id = page.id
        LEFT JOIN disk_item AS item ON item.account = ? AND item.path = page_row.row_key
        WHERE page.account = ? AND page.screen = ? AND page.query = ? AND page.page_offset = ? AND page.page_limit = ?
        ORDER BY page_row.position
        """
    static let selectItem = "SELECT * FROM disk_item WHERE account = ? AND path = ?"
    /// Looks at all rows of the account: it is seldom needed, and an index would cost each list more.
    private static let selectPaths = """
        SELECT path FROM disk_item WHERE account = ? AND resource_id = ? ORDER BY seen_at DESC LIMIT 4
        """
    static let selectItems = """
        SELECT * FROM disk_item WHERE account = ? AND path IN (SELECT value FROM json_each(?))
        """
    static func nextRevision(_ account: String, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db,
            sql: "UPDATE disk_cache SET revision = revision + 1 WHERE account = ? RETURNING revision",
            arguments: [account]
        ) ?? 0
    }
}

extension DiskItem: FetchableRecord {
    /// Reads a row of table `disk_item`.
    init(row: Row) throws {
        guard let item = try ItemColumns(of: row).item(in: row)?.item else { throw DatabaseError.damaged("path") }
        self = item
    }
}

/// A row of table `disk_item`.
struct StoredItem: Sendable {
    var item: DiskItem
    /// When the API last listed it.
    var seenAt: Date
    /// When the values of the item were received.
    var changedAt: Date
}

/// Where the columns of table `disk_item` are in the rows of a query. To look them up by name in each row takes longer
/// than to read the row.
struct ItemColumns {
    private static let names = [
        "path", "kind", "name", "size", "created", "modified", "media_type", "mime_type", "md5", "resource_id",
        "public_url", "published", "origin", "deleted", "seen_at", "sha256",
        "available_until", "changed_at",
    ]

    /// Positions of the columns in the order of ``names``.
    private let positions: [Int]

    /// Looks the columns up in a row of the query, which has all of them.
    init(of row: Row) {
        let columns = Array(row.columnNames)
        positions = Self.names.compactMap { columns.firstIndex(of: $0) }
    }

    /// Reads an item and when the API last listed it; nil for a row without one.
    func item(in row: Row) throws -> StoredItem? {
        let at = positions
        guard at.count == Self.names.count, let text: String = try row.value(at[0]) else { return nil }
        guard let path = DiskPath(text) ?? DiskPath(text, scheme: .trash),
            let kind = DiskItem.Kind(rawValue: try row.value(at[1]))
        else { throw DatabaseError.damaged("path") }
        var item = DiskItem(path: path, kind: kind, name: try row.value(at[2]))
        item.size = try row.value(at[3])
        item.created = try row.date(at[4])
        item.modified = try row.date(at[5])
        item.mediaType = try row.value(at[6])
        item.mimeType = try row.value(at[7])
        item.md5 = try row.value(at[8])
        item.resourceID = try row.value(at[9])
        item.publicURL = try row.value(at[10])
        item.isPublished = try row.value(at[11])
        item.origin = try row.value(at[12])
        item.deleted = try row.date(at[13])
        item.sha256 = try row.value(at[15])
        item.linkEnd = LinkEnd(milliseconds: try row.value(at[16]))
        return StoredItem(item: item, seenAt: try row.date(at[14]), changedAt: try row.date(at[17]))
    }
}

extension DiskStore {
    /// Returns the rows whose name contains a text, the last modified first.
    ///
    /// - Parameter lastPart: Offset of the last part of the list of all files, if all of it is stored. A file that is
    ///   neither in it nor in a list that was read since no longer exists.
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
            let plain = try SearchHits(Self.selectHits, terms, arguments, request, db)
            let owner = Self.owner(ofTerms: account)
            let hits = try plain.orVariants(of: query.text, among: Self.vocabulary.words(of: owner, db)) { variant in
                let terms = Self.names.partSearch(variant, of: owner)
                return try SearchHits(
                    Self.selectVariants,
                    terms,
                    ["account": account, "owner": Self.owner(account), "last_part": lastPart, "variant": variant.json],
                    request,
                    db
                )
            }
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

    /// The condition of the rank bounds the scan of the index. For each row that has the terms, it is looked up whether
    /// its name has the whole text, whose row it is and whether it still exists.
    static let selectHits = selectHits("instr(item.folded, :needle) > 0")
    private static let selectVariants = selectHits(SearchVariant.condition(on: "item.folded"))
    private static func selectHits(_ hasText: String) -> String {
        """
        SELECT disk_term.rowid AS rank, coalesce(
            item.account = :account AND \(hasText) AND (
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
    }

    static let selectRanked = """
        SELECT item.* FROM json_each(?) AS wanted CROSS JOIN disk_item AS item ON item.rank = wanted.value
        WHERE item.account = ? ORDER BY wanted.key
        """

    /// Returns the rows of items that pending writes make or move. Rows of items at the API are read together.
    func rows(
        of shown: some Collection<PendingView.Shown>,
        _ view: PendingView,
        _ queue: OutboxQueue<QueuedWrite>,
        account: String
    ) throws -> [DiskRow] {
        let sources = shown.filter { $0.node.item == nil }.compactMap { $0.node.source?.text }
        let known = sources.isEmpty ? [] : try database.read { try rows(sources, account: account, $0) }
        let byPath = Dictionary(known.map { ($0.item.path, $0) }) { first, _ in first }
        return shown.compactMap { view.row(of: $0, queue) { byPath[$0] } }
    }

    /// Returns whether rows follow a stored page, and whether it has rows that cannot be shown; nil if it is not
    /// stored.
    func ending(_ key: PageKey) throws -> (hasMore: Bool, lacksRows: Bool)? {
        try database.read { try pages.ending(key, containing: ListedRow.unreadable.key, in: $0) }.map { ($0, $1) }
    }
}
