import Foundation
import GRDB
import Storage

// Rows that are stored of a list under other positions than the requested ones, for the time when it cannot be
// requested.
extension DiskStore {
    /// Returns the rows between two positions that other stored pages of the list have; of a folder that is stored
    /// whole, in any order.
    ///
    /// - Returns: Nil if none of the positions is stored.
    func window(_ key: PageKey, of folder: DiskPath?, account: String) throws -> DiskPage? {
        try database.read { db in
            let window = try PageWindow(sources(key, db), offset: key.offset, limit: key.limit)
            if let window, window.isWhole { return try page(window, account: account, db) }
            if let folder, let sorted = try sortedFolder(folder, key, account: account, db) { return sorted }
            return try window.map { try page($0, account: account, db) }
        }
    }

    /// Returns the age and completeness of the rows that can be shown while a page cannot be requested: those of the
    /// page itself, or else of its window (``window(_:of:account:)``).
    func substitute(_ key: PageKey, of folder: DiskPath?, account: String) throws -> (
        fetchedAt: Date, isPartial: Bool
    )? {
        if let page = try database.read({ try pages.page(key, in: $0) }) {
            return (page.fetchedAt, false)
        }
        return try window(key, of: folder, account: account).map { ($0.fetchedAt, $0.isPartial) }
    }

    private func page(_ window: PageWindow, account: String, _ db: Database) throws -> DiskPage {
        DiskPage(
            try rows(window.rowKeys, account: account, db),
            changedAt: window.changedAt,
            fetchedAt: window.fetchedAt,
            keys: window.rowKeys,
            total: window.total,
            hasMore: window.hasMore,
            revision: try Self.revision(of: account, db),
            isPartial: !window.isWhole
        )
    }

    /// Returns the stored pages that have rows of a window, the newest first.
    private func sources(_ key: PageKey, _ db: Database) throws -> [PageWindow.Source] {
        let arguments: StatementArguments = [
            key.account, key.screen, key.query, PageWindow.Source.sum(key.offset, key.limit), key.offset,
        ]
        var sources: [PageWindow.Source] = []
        var last: Int64?
        for row in try Row.fetchAll(try db.cachedStatement(sql: Self.selectSources), arguments: arguments) {
            let id: Int64 = try row.value("id")
            if id != last { sources.append(try PageWindow.Source(row: row)) }
            last = id
            guard let key: String = try row.value("row_key") else { continue }
            let index = sources.count - 1
            sources[index].keys[PageWindow.Source.sum(sources[index].offset, try row.value("position"))] = key
        }
        return sources
    }

    // More pages than this that overlap one window are those of clients with ever other limits.
    static let selectSources = """
        SELECT source.*, page_row.position, page_row.row_key FROM (
            SELECT id, query, page_offset, page_limit, has_more, total, fetched_at, changed_at FROM page
            WHERE account = ? AND screen = ? AND query = ? AND page_offset < ?
            AND (page_offset + page_limit > ? OR has_more = 0)
            ORDER BY fetched_at DESC LIMIT 200
        ) AS source LEFT JOIN page_row ON page_row.page_id = source.id
        ORDER BY source.fetched_at DESC, source.id
        """
}

// Folders that are stored whole.
extension DiskStore {
    /// Returns a window of a folder that is stored whole in another order; nil if it is not.
    private func sortedFolder(
        _ folder: DiskPath,
        _ key: PageKey,
        account: String,
        _ db: Database
    ) throws -> DiskPage? {
        let stored = try wholeList(of: folder, owner: key.account, db)
        let kept = try keptFolder(folder, account: account, db)
        guard let fetchedAt = [stored?.fetchedAt, kept].compactMap({ $0 }).max(),
            let sort = key.query.split(separator: "\n").last,
            let column = Self.columns.first(where: { $0 == sort.drop { $0 == "-" } })
        else { return nil }
        let order = sort.hasPrefix("-") ? "DESC" : "ASC"
        // The newer one of a stored list and the offline entries.
        let list = stored.flatMap { $0.fetchedAt == fetchedAt ? $0 : nil }
        let ofList = list == nil ? Self.ofKeptFolder : Self.ofList
        let arguments: StatementArguments =
            list.map { [account, key.account, $0.query] } ?? [account, account, folder.text]
        let found = try Row.fetchAll(
            db,
            sql: "SELECT * \(ofList) ORDER BY \(column) \(order), path \(order) LIMIT ? OFFSET ?",
            arguments: arguments + [key.limit, key.offset]
        )
        let total = try Int.fetchOne(db, sql: "SELECT count(*) \(ofList)", arguments: arguments) ?? 0
        let rows = try diskRows(found, account: account, db)
        return DiskPage(
            rows,
            changedAt: list?.changedAt ?? fetchedAt,
            fetchedAt: fetchedAt,
            keys: rows.map(\.item.path.text),
            total: total,
            hasMore: PageWindow.Source.sum(key.offset, key.limit) < total,
            revision: try Self.revision(of: account, db)
        )
    }

    private struct WholeList {
        let query: String
        /// When its oldest page was fetched.
        let fetchedAt: Date
        /// When the keys or the total of any of its pages last changed.
        let changedAt: Date

        init?(_ query: String, _ pages: [PageWindow.Source]) {
            guard PageWindow.isWholeList(pages), let fetchedAt = pages.map(\.fetchedAt).min() else { return nil }
            (self.query, self.fetchedAt) = (query, fetchedAt)
            changedAt = pages.reduce(.distantPast) { max($0, $1.changedAt) }
        }
    }

    private func wholeList(of folder: DiskPath, owner: String, _ db: Database) throws -> WholeList? {
        let arguments: StatementArguments = [owner, folder.text + "\n", folder.text + "\u{B}"]
        let rows = try Row.fetchAll(try db.cachedStatement(sql: Self.selectFolderPages), arguments: arguments)
        let lists = try Dictionary(grouping: rows) { try $0.value("query") as String }
            .mapValues { try $0.map(PageWindow.Source.init(row:)) }
        return lists.compactMap(WholeList.init).max { $0.fetchedAt < $1.fetchedAt }
    }

    /// Whether a folder is stored whole, without a row of a path.
    func isListed(_ folder: DiskPath, without path: DiskPath, account: String, _ db: Database) throws -> Bool {
        let owner = Self.owner(account)
        guard let list = try wholeList(of: folder, owner: owner, db) else { return false }
        let arguments: StatementArguments = [owner, list.query, path.text, ListedRow.unreadable.key]
        return try Bool.fetchOne(db.cachedStatement(sql: Self.selectHasRow), arguments: arguments) == false
    }

    private func keptFolder(_ folder: DiskPath, account: String, _ db: Database) throws -> Date? {
        guard try offlineSignal.mayHaveMarks(account, db) else { return nil }
        return try Int64.fetchOne(db.cachedStatement(sql: Self.selectListed), arguments: [account, folder.text])
            .map(Date.init(millisecondsSince1970:))
    }

    /// The columns that folders are sorted by; the API has the same names.
    private static let columns = ["name", "path", "created", "modified", "size"]
    static let selectFolderPages = """
        SELECT id, query, page_offset, page_limit, has_more, total, fetched_at, changed_at FROM page
        WHERE account = ? AND screen = 'files' AND query >= ? AND query < ?
        """
    static let selectHasRow = """
        SELECT EXISTS (
            SELECT 1 FROM page JOIN page_row ON page_row.page_id = page.id
            WHERE page.account = ? AND page.screen = 'files' AND page.query = ? AND page_row.row_key IN (?, ?)
        )
        """
    static let selectListed = """
        SELECT listed_at FROM disk_offline_entry WHERE account = ? AND path = ? AND listed_at IS NOT NULL
        """
    static let ofKeptFolder = """
        FROM disk_item WHERE account = ? AND path IN (
            SELECT path FROM disk_offline_entry WHERE account = ? AND parent = ?
        )
        """
    static let ofList = """
        FROM disk_item WHERE account = ? AND path IN (
            SELECT page_row.row_key FROM page JOIN page_row ON page_row.page_id = page.id
            WHERE page.account = ? AND page.screen = 'files' AND page.query = ?
        )
        """
}

extension PageWindow.Source {
    /// Reads a row of table `page`.
    fileprivate init(row: Row) throws {
        try self.init(
            offset: row.value("page_offset"),
            limit: row.value("page_limit"),
            hasMore: row.value("has_more"),
            total: row.value("total"),
            fetchedAt: row.date("fetched_at"),
            changedAt: row.date("changed_at")
        )
    }
}
