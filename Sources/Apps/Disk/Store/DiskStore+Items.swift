import Foundation
import GRDB
import HTTPTypes
import Storage
import Upstream

extension DiskStore {
    /// Returns a row; nil if there is none.
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
    /// - Throws: GRDB's errors.
    func storedPage(_ key: PageKey, account: DiskAccount, _ db: Database) throws -> StoredPage? {
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
        let page = DiskPage(
            try diskRows(items.compactMap { $0 }, account: account.id, db),
            changedAt: changedAt,
            keys: keys.compactMap { $0 },
            total: total,
            hasMore: hasMore,
            revision: account.revision
        )
        return StoredPage(page: page, fetchedAt: fetchedAt)
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

extension DiskItem {
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
