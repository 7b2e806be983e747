import Database
import Foundation
import GRDB
import HTTPTypes
import ResponseStore
import Upstream

extension DiskStore {
    /// Returns a row; nil if there is none.
    func row(_ path: DiskPath, account: String) throws -> DiskRow? {
        try database.read { try row(path.text, account: account, $0) }
    }

    private func row(_ path: String, account: String, _ db: Database) throws -> DiskRow? {
        let rows = try Row.fetchAll(db.cachedStatement(sql: Self.selectItem), arguments: [account, path])
        return try diskRows(rows, account: account, db).first
    }

    /// Returns the rows of a list of keys, in their order, without those that are not there any more.
    func rows(_ keys: [String], account: String, _ db: Database) throws -> [DiskRow] {
        let list = String(decoding: try JSONEncoder().encode(keys), as: UTF8.self)
        let found = try Row.fetchAll(db.cachedStatement(sql: Self.selectItems), arguments: [account, list])
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
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: Self.selectPageItems),
            arguments: [account.id, key.account, key.screen, key.query, key.offset, key.limit]
        )
        guard let first = rows.first else { return nil }
        let page = DiskPage(
            try diskRows(rows.filter { $0["path"] != nil }, account: account.id, db),
            keys: rows.compactMap { $0["row_key"] },
            total: first["total_of_list"],
            hasMore: first["has_more"],
            revision: account.revision
        )
        return StoredPage(page: page, fetchedAt: Date(millisecondsSince1970: first["fetched_at"]))
    }

    static let selectPageItems = """
        SELECT page.total AS total_of_list, page.has_more, page.fetched_at, page_row.row_key, item.* FROM page
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
            sql: "UPDATE disk_account SET revision = revision + 1 WHERE account = ? RETURNING revision",
            arguments: [account]
        ) ?? 0
    }
}

extension DiskItem {
    /// Reads a row of table `disk_item`; nil for one that is damaged.
    init?(row: Row) {
        let text: String = row["path"]
        guard let path = DiskPath(text) ?? DiskPath(text, scheme: .trash), let kind = Kind(rawValue: row["kind"]) else {
            return nil
        }
        self.init(path: path, kind: kind, name: row["name"])
        size = row["size"]
        created = (row["created"] as Int64?).map(Date.init(millisecondsSince1970:))
        modified = (row["modified"] as Int64?).map(Date.init(millisecondsSince1970:))
        mediaType = row["media_type"]
        mimeType = row["mime_type"]
        md5 = row["md5"]
        resourceID = row["resource_id"]
        publicURL = row["public_url"]
        isPublished = row["published"]
        origin = row["origin"]
        deleted = (row["deleted"] as Int64?).map(Date.init(millisecondsSince1970:))
    }
}
