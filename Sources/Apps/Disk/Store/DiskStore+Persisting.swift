import Concurrency
import Foundation
import GRDB
import Storage
import Upstream

extension DiskStore {
    /// Returns the update of a page and its rows, for the transaction that stores the response.
    ///
    /// Changes since the request are applied to the response, so that nothing reappears that a write has removed; a
    /// newer response that is stored already stays. Such a response must be revalidated:
    /// ``isSuperseded(_:account:_:)``.
    func persistRows(_ fetched: FetchedRows, _ request: RowsRequest) -> Resource.PersistRows {
        Resource.PersistRows { [self] db in
            guard let present = try Self.epoch(of: request.account, db),
                let changes = changeLogs.changes(of: request.account, from: request.epoch, to: present)
            else { throw UpstreamError.notStored }
            // The server of the API that sent the list may know more than others.
            if changes.isEmpty, let path = fetched.subject ?? fetched.folder {
                db.afterNextTransaction { [changeLogs] _ in changeLogs.show(path, account: request.account) }
            }
            let fetched = try completed(fetched.after(changes), account: request.account, db)
            let rows = try fetched.allItems.filter {
                try changes.isEmpty || !isNewer($0.path, than: request.time, account: request.account, db)
            }
            var kept = try keep(rows, about: fetched.subject, account: request.account, at: request.time, in: db)
            if try keepFolders(above: rows, account: request.account, at: request.time, db) { kept.hasNew = true }
            var (screens, isChanged) = (kept.screens, false)
            if let page = fetched.page(at: request.time) {
                let saved = try save(page, request, present: present, db)
                isChanged = saved.isChanged
                // A list that was not shown before notifies no listeners; the list of all files is shown by searches of
                // any rows.
                let isSeen = saved.isKnown || request.hasSubstitute || page.key.screen == Search.list
                if isChanged, isSeen, let screen = request.screen { screens.insert(screen) }
            }
            if isChanged || !screens.isEmpty { bump(request.account, after: db) }
            if !screens.isEmpty { try notify(screens, account: request.account, after: db) }
        }
    }

    /// How the rows of a response differ from the stored ones.
    struct RowChanges {
        /// Whether a file or folder was not known before. Only searches show items that no list has shown.
        var hasNew = false
        var hasChanged = false
        /// Whether a known item of the trash has changed.
        var hasChangedTrash = false

        /// The screens that may show others.
        var screens: Set<String> {
            var screens = Set(hasChanged ? DiskEvents.lists : [])
            if hasNew || hasChanged { screens.insert("disk.search") }
            if hasChangedTrash { screens.insert("disk.trash") }
            return screens
        }
    }

    /// Stores the folders that are in the paths of items and of which nothing is known, so that searches find them: the
    /// API lists files only.
    ///
    /// - Returns: Whether there are any.
    private func keepFolders(above items: [DiskItem], account: String, at now: Date, _ db: Database) throws -> Bool {
        var folders = Set<DiskPath>()
        for item in items where item.path.scheme == .disk {
            var next = item.path.parent
            while let folder = next, !folder.isRoot, folders.insert(folder).inserted { next = folder.parent }
        }
        guard !folders.isEmpty else { return false }
        let arguments: StatementArguments = [account, folders.map(\.text).jsonArray]
        let known = try String.fetchAll(try db.cachedStatement(sql: Self.selectKnown), arguments: arguments)
        let unknown = folders.subtracting(known.compactMap { DiskPath($0) }).sorted { $0.text < $1.text }
        guard !unknown.isEmpty else { return false }
        try keep(unknown.map { DiskItem(path: $0, kind: .dir) }, about: nil, account: account, at: now, in: db)
        return true
    }

    static let selectKnown = "SELECT path FROM disk_item WHERE account = ? AND path IN (SELECT value FROM json_each(?))"

    /// Adds items that the API has acknowledged and does not list yet (``YoungWrites``) to the last part of a list, if
    /// the list lacks them.
    private func completed(_ fetched: FetchedRows, account: String, _ db: Database) throws -> FetchedRows {
        guard let key = fetched.key, !fetched.hasMore, let young = changeLogs.young(of: account, at: clock.now()) else {
            return fetched
        }
        let isOfAll = key.screen == Search.list
        guard isOfAll || fetched.folder != nil && key.offset == 0 else { return fetched }
        let listed = Set(fetched.rows.items.map(\.path))
        let missing = try young.paths.filter { !listed.contains($0) && (isOfAll || $0.parent == fetched.folder) }
            .compactMap { try known($0, account: account, db) }
            .filter { !isOfAll || $0.kind == .file }
            .sorted { $0.path.text < $1.path.text }
            .prefix(max(0, key.limit - fetched.rows.count))
        var completed = fetched
        completed.rows.insert(contentsOf: missing.map { .item($0) }, at: 0)
        completed.total = fetched.total.map { $0 + missing.count }
        return completed
    }

    /// Stores a page unless a newer one is stored.
    ///
    /// - Parameter present: Epoch of the account now.
    /// - Returns: Whether the page was known before, and whether it is new or has changed.
    private func save(_ page: PageList, _ request: RowsRequest, present: Int64, _ db: Database) throws -> (
        isKnown: Bool, isChanged: Bool
    ) {
        let old = try pages.page(page.key, in: db)
        guard old == nil || !changeLogs.isStoredLater(page.key, than: request.epoch, present: present) else {
            return (true, false)
        }
        db.afterNextTransaction { [changeLogs] _ in changeLogs.stored(page.key, epoch: request.epoch) }
        let isSame = old.map { Self.same($0, page) } ?? false
        var saved = page
        saved.changedAt = isSame ? old?.changedAt ?? clock.now() : clock.now()
        try pages.save(saved, in: db)
        if !isSame { try noteContent(of: request.account, db) }
        return (old != nil, !isSame)
    }

    /// Stores rows as the API lists them now.
    ///
    /// - Parameter subject: The path that was requested, if it was one: see ``FetchedRows/subject``.
    /// - Returns: Whether rows are new or have changed.
    @discardableResult
    func keep(
        _ items: [DiskItem],
        about subject: DiskPath?,
        account: String,
        at now: Date,
        in db: Database
    ) throws -> RowChanges {
        let select = try db.cachedStatement(sql: Self.selectItem)
        let upsert = try db.cachedStatement(sql: Self.upsertItem)
        let received = clock.now().millisecondsSince1970
        var (changed, kept): ([DiskItem], RowChanges) = ([], RowChanges())
        var names = NameChanges(account)
        for item in items {
            let row = try Row.fetchOne(select, arguments: [account, item.path.text])
            let old = try row.map(DiskItem.init(row:))
            let item = item.keepingLinkEnd(of: old)
            if old != item {
                changed.append(item)
                switch (item.path.scheme, old) {
                case (.trash, nil): break
                case (.trash, _): kept.hasChangedTrash = true
                case (.disk, nil): kept.hasNew = true
                case (.disk, _): kept.hasChanged = true
                }
            }
            // A folder has become a file.
            if item.path == subject, old?.kind == .dir, item.kind == .file, !item.path.isRoot {
                try names.write(db)
                try removeContents(of: item.path, account: account, db)
            }
            let folded = item.name.partFolded
            let rank = try names.enter(item, folded: folded, replacing: row, db)
            try upsert.execute(arguments: [
                account, item.path.text, item.name, folded, item.kind.rawValue, item.size,
                item.created?.millisecondsSince1970,
                item.modified?.millisecondsSince1970, item.mediaType, item.mimeType, item.md5, item.resourceID,
                item.publicURL, item.isPublished, item.origin,
                item.deleted?.millisecondsSince1970, now.millisecondsSince1970, rank, item.sha256,
                item.linkEnd.milliseconds, old == item ? try row?.value("changed_at") ?? received : received,
            ])
        }
        try names.write(db)
        try followOffline(changed, account: account, db)
        if !changed.isEmpty { try noteContent(of: account, db) }
        return kept
    }

    static let upsertItem = """
        INSERT INTO disk_item
            (account, path, name, folded, kind, size, created, modified, media_type, mime_type, md5, resource_id,
            public_url, published, origin, deleted, seen_at, rank, sha256, available_until,
            changed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (account, path) DO UPDATE SET
            name = excluded.name, folded = excluded.folded, kind = excluded.kind, size = excluded.size,
            created = excluded.created, modified = excluded.modified, media_type = excluded.media_type,
            mime_type = excluded.mime_type, md5 = excluded.md5, resource_id = excluded.resource_id,
            public_url = excluded.public_url, published = excluded.published, origin = excluded.origin,
            deleted = excluded.deleted, seen_at = max(seen_at, excluded.seen_at), rank = excluded.rank,
            sha256 = excluded.sha256, available_until = excluded.available_until, changed_at = excluded.changed_at
        """

    /// Records that a response of the API has changed the stored rows of an account's files.
    func noteContent(of account: String, _ db: Database) throws {
        try db.cachedStatement(sql: Self.updateContentTime)
            .execute(arguments: [clock.now().millisecondsSince1970, account])
    }

    static let updateContentTime = "UPDATE disk_cache SET changed_at = max(changed_at, ?) WHERE account = ?"

    /// Whether the account has changed since an epoch, so that a response requested then must be revalidated before it
    /// is fresh.
    func isSuperseded(_ epoch: Int64, account: String, _ db: Database) throws -> Bool {
        try Self.epoch(of: account, db) != epoch
    }

    /// Whether a row was seen at or after the time of a request.
    private func isNewer(_ path: DiskPath, than asked: Date, account: String, _ db: Database) throws -> Bool {
        try Int64.fetchOne(db.cachedStatement(sql: Self.selectSeen), arguments: [account, path.text]).map {
            $0 >= asked.millisecondsSince1970
        } ?? false
    }

    static let selectSeen = "SELECT seen_at FROM disk_item WHERE account = ? AND path = ?"

    private static func same(_ one: PageList, _ other: PageList) -> Bool {
        one.total == other.total && one.hasMore == other.hasMore && one.rowKeys.count == other.rowKeys.count
            && zip(one.rowKeys, other.rowKeys).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
}

extension FetchedRows {
    fileprivate var allItems: [DiskItem] { rows.items + others }

    /// Returns the rows after changes that were made since the request.
    fileprivate func after(_ changes: ArraySlice<DiskChange>) -> FetchedRows {
        guard !changes.isEmpty else { return self }
        var fetched = self
        let items = DiskReplay.rows(rows.items, after: changes).filter {
            (folder == nil || $0.path.parent == folder) && (key?.screen != Listing.published || $0.isPublished)
        }
        fetched.rows = items.map { .item($0) } + rows.filter { $0 == .unreadable }.prefix(1)
        fetched.others = DiskReplay.rows(others, after: changes)
        // The page of a folder that was moved or removed since is none.
        if let folder, !DiskReplay.isSame(folder, after: changes) { fetched.key = nil }
        return fetched
    }

    /// Returns the page that the rows make; nil if they make none.
    fileprivate func page(at time: Date) -> PageList? {
        key.map {
            PageList(key: $0, rowKeys: rows.map(\.key), total: total, hasMore: hasMore, fetchedAt: time)
        }
    }
}

/// The rows of a response of the API, for the transaction that stores the response.
struct FetchedRows: Sendable {
    /// The rows of the page, or the one row of a response about a single path. A row that is not shown keeps its
    /// position.
    var rows: [ListedRow]
    /// Rows of the response that are not on the page.
    var others: [DiskItem] = []
    /// The page that the response makes; nil for a response that makes none.
    var key: PageKey?
    /// The folder whose content the page shows, if it is one.
    var folder: DiskPath?
    /// The one path that the response describes, if it describes one. Only its row can show that a folder has become a
    /// file and its content no longer exists; a list of another path may be wrong.
    var subject: DiskPath?
    /// Number of rows on all pages; nil if the API does not say.
    var total: Int?
    var hasMore = false
}

/// The request to the API whose response has the rows.
struct RowsRequest: Sendable {
    let account: String
    /// Epoch of the account before the request.
    let epoch: Int64
    let time: Date
    /// Whether clients may be shown other rows in place of the page while it is requested, although it is not stored.
    var hasSubstitute = false
    /// The screen whose clients are notified if the page has changed; nil if no page is requested.
    var screen: String?
}
