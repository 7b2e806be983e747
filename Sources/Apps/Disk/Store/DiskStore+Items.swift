import Database
import Foundation
import GRDB
import HTTPTypes
import ResponseStore
import Upstream

/// A row, the time when the API last listed it, and whether its present version is stored.
struct DiskRow: Sendable {
    var item: DiskItem
    var seenAt: Date
    var isDownloaded: Bool
}

/// A page of a list, and the revision of the account in the same read transaction.
struct DiskPage: Sendable {
    var rows: [DiskRow]
    var total: Int?
    var hasMore: Bool
    var revision: Int?
}

extension DiskStore {
    /// Returns a row; nil if there is none.
    func row(_ path: DiskPath, account: String) throws -> DiskRow? {
        try database.read { try row(path.text, account: account, $0) }
    }

    private func row(_ path: String, account: String, _ db: Database) throws -> DiskRow? {
        guard let row = try Row.fetchOne(try db.cachedStatement(sql: Self.selectItem), arguments: [account, path]),
            let item = DiskItem(row: row)
        else {
            return nil
        }
        return DiskRow(
            item: item,
            seenAt: Date(diskMilliseconds: row["seen_at"]),
            isDownloaded: try isDownloaded(item, account: account, db)
        )
    }

    /// Returns a stored page with its rows and the revision of the account, read in one transaction; nil if it was
    /// never fetched or was evicted.
    func page(_ key: PageKey, account: String) throws -> DiskPage? {
        try database.read { db in
            guard let page = try pages.page(key, in: db) else { return nil }
            return DiskPage(
                rows: try page.rowKeys.compactMap { try row($0, account: account, db) },
                total: page.total,
                hasMore: page.hasMore,
                revision: try Self.account(account, db)?.revision
            )
        }
    }

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
            return (
                try found.compactMap { row in
                    guard let item = DiskItem(row: row) else { return nil }
                    return DiskRow(
                        item: item,
                        seenAt: Date(diskMilliseconds: row["seen_at"]),
                        isDownloaded: try isDownloaded(item, account: account, db)
                    )
                }, total
            )
        }
    }

    /// Returns a text as searches compare it: composed and in lower case.
    static func folded(_ text: String) -> String {
        text.precomposedStringWithCompatibilityMapping.lowercased()
    }

    static let selectItem = "SELECT * FROM disk_item WHERE account = ? AND path = ?"
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

    /// Stores rows as the API lists them now.
    ///
    /// - Parameter subject: The path that was requested. Only its row can say that a folder has become a file, so that
    ///   its content is gone; a list of something else may be wrong.
    /// - Returns: Whether any of them is new or has changed.
    @discardableResult
    func keep(
        _ items: [DiskItem],
        about subject: DiskPath?,
        account: String,
        at now: Date,
        in db: Database
    ) throws -> Bool {
        let select = try db.cachedStatement(sql: Self.selectItem)
        let upsert = try db.cachedStatement(sql: Self.upsertItem)
        var isChanged = false
        for item in items {
            let old = try Row.fetchOne(select, arguments: [account, item.path.text]).flatMap(DiskItem.init)
            if old != item { isChanged = true }
            // A folder has become a file.
            if item.path == subject, old?.kind == .dir, item.kind == .file, !item.path.isRoot {
                try removeContents(of: item.path, account: account, db)
            }
            try upsert.execute(arguments: [
                account, item.path.text, item.name, Self.folded(item.name), item.kind.rawValue, item.size,
                item.created?.diskMilliseconds,
                item.modified?.diskMilliseconds, item.mediaType, item.mimeType, item.md5, item.resourceID,
                item.publicURL, item.isPublished, item.origin,
                item.deleted?.diskMilliseconds, now.diskMilliseconds,
            ])
        }
        return isChanged
    }

    static let upsertItem = """
        INSERT INTO disk_item
            (account, path, name, folded, kind, size, created, modified, media_type, mime_type, md5, resource_id,
            public_url, published, origin, deleted, seen_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (account, path) DO UPDATE SET
            name = excluded.name, folded = excluded.folded, kind = excluded.kind, size = excluded.size,
            created = excluded.created, modified = excluded.modified, media_type = excluded.media_type,
            mime_type = excluded.mime_type, md5 = excluded.md5, resource_id = excluded.resource_id,
            public_url = excluded.public_url, published = excluded.published, origin = excluded.origin,
            deleted = excluded.deleted, seen_at = max(seen_at, excluded.seen_at)
        """

    /// Returns the update of a page and its rows, for the transaction that stores the response.
    ///
    /// Changes since the request are applied to the response, so that nothing reappears that a write has removed; a
    /// newer response that is stored already stays. Such a response must be revalidated: ``isOvertaken(_:account:_:)``.
    ///
    /// - Parameters:
    ///   - others: Rows of the response that are not on the page.
    ///   - folder: The folder whose content the page shows, if it is one.
    ///   - subject: The one path that the response is about, if it is about one.
    ///   - epoch: Epoch of the account before the request.
    ///   - now: Time of the request.
    ///   - changed: Is called with the new revision if a page that was known has changed.
    func persistRows(
        _ items: [DiskItem],
        beside others: [DiskItem] = [],
        as key: PageKey?,
        folder: DiskPath? = nil,
        about subject: DiskPath? = nil,
        total: Int? = nil,
        hasMore: Bool = false,
        account: String,
        epoch: Int64,
        at now: Date,
        changed: @escaping @Sendable (_ revision: Int) -> Void
    ) -> Resource.PersistRows {
        { [self] db in
            guard let present = try Self.account(account, db)?.epoch,
                let changes = changeLogs.changes(of: account, from: epoch, to: present)
            else { throw UpstreamError.notStored }
            let items = DiskReplay.rows(items, after: changes).filter {
                folder == nil || changes.isEmpty || $0.path.parent == folder
            }
            let others = DiskReplay.rows(others, after: changes)
            let kept =
                changes.isEmpty
                ? items + others
                : try (items + others).filter { try !isNewer($0.path, than: now, account: account, db) }
            var isChanged = try keep(kept, about: subject, account: account, at: now, in: db)
            var isKnown = true
            if let key, folder.map({ DiskReplay.isSame($0, after: changes) }) ?? true {
                let old = try pages.page(key, in: db)
                isKnown = old != nil
                if old == nil || !changeLogs.isStoredLater(key, than: epoch, present: present) {
                    db.afterNextTransaction { [changeLogs] _ in changeLogs.stored(key, epoch: epoch) }
                    let new = PageList(
                        key: key,
                        rowKeys: items.map(\.path.text),
                        total: total,
                        hasMore: hasMore,
                        fetchedAt: now
                    )
                    isChanged = isChanged || old.map { !Self.same($0, new) } ?? true
                    try pages.save(new, in: db)
                }
            }
            if isChanged {
                bump(account, after: db)
                guard isKnown else { return }
                let revision = try Self.nextRevision(account, db)
                db.afterNextTransaction { _ in changed(revision) }
            }
        }
    }

    /// Whether the account has changed since an epoch, so that a response requested then must be revalidated before it
    /// is fresh.
    func isOvertaken(_ epoch: Int64, account: String, _ db: Database) throws -> Bool {
        try Self.account(account, db)?.epoch != epoch
    }

    /// Whether a row was seen at or after the time of a request.
    private func isNewer(_ path: DiskPath, than asked: Date, account: String, _ db: Database) throws -> Bool {
        try Int64.fetchOne(db.cachedStatement(sql: Self.selectSeen), arguments: [account, path.text]).map {
            $0 >= asked.diskMilliseconds
        } ?? false
    }

    static let selectSeen = "SELECT seen_at FROM disk_item WHERE account = ? AND path = ?"

    private static func same(_ one: PageList, _ other: PageList) -> Bool {
        one.total == other.total && one.hasMore == other.hasMore && one.rowKeys.count == other.rowKeys.count
            && zip(one.rowKeys, other.rowKeys).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

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
        created = (row["created"] as Int64?).map(Date.init(diskMilliseconds:))
        modified = (row["modified"] as Int64?).map(Date.init(diskMilliseconds:))
        mediaType = row["media_type"]
        mimeType = row["mime_type"]
        md5 = row["md5"]
        resourceID = row["resource_id"]
        publicURL = row["public_url"]
        isPublished = row["published"]
        origin = row["origin"]
        deleted = (row["deleted"] as Int64?).map(Date.init(diskMilliseconds:))
    }
}

extension DiskStore {
    /// Returns the time when a page was fetched; nil if none is stored.
    func pageDate(_ key: PageKey) throws -> Date? {
        try database.read { try pages.page(key, in: $0)?.fetchedAt }
    }
}
