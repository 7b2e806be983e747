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
