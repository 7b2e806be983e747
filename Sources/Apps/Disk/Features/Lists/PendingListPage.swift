import Foundation
import HTTP
import Screens
import Storage
import Upstream

/// A list after the pending writes: first the items made or moved here, then the rows of the API, each under its future
/// name. Rows that will be gone are left out.
struct PendingListPage: Sendable {
    let query: Listing.Query
    let view: PendingView
    let queue: OutboxQueue<QueuedWrite>
    let session: Session
    /// The paths of moves that the API may have carried out.
    let ahead: [DiskPath]

    init(query: Listing.Query, view: PendingView, queue: OutboxQueue<QueuedWrite>, session: Session) {
        (self.query, self.view, self.queue, self.session) = (query, view, queue, session)
        ahead = queue.unsettledMoves
    }

    /// When a write has made the folder whose content it is; nil if the API has it.
    var madeAt: Date? {
        guard let folder = query.folder, case .made(let item, _) = view.tree.item(at: folder) else { return nil }
        return item.created
    }

    /// By how much the number of rows differs from that of the API's rows, apart from ``added``.
    var difference: Int {
        guard let folder = query.folder else { return 0 }
        return view.folder(folder).difference - view.displaced(in: folder, ahead: ahead).count
    }

    /// Returns the rows that precede the rows of the API, in order.
    func added() -> ArraySlice<PendingView.Shown> {
        let key = "\(query.list)\n\(query.folder?.text ?? "")\n\(query.query)"
        guard let folder = query.folder else {
            return view.lists.rows(key, of: nil, Self.isAdded(to: query)) { $0.write > $1.write }
        }
        let order = ListOrder(query.query)
        let sorted = view.lists.rows(key, of: folder, { _ in true }, by: order.precedes)
        let displaced = view.displaced(in: folder, ahead: ahead)
        return displaced.isEmpty ? sorted : (displaced + sorted)[...]
    }

    /// Says whether something that is made or moved here is new in a list without folders.
    private static func isAdded(to query: Listing.Query) -> @Sendable (PendingView.Shown) -> Bool {
        let (list, filter) = (query.list, query.query)
        return { shown in
            switch list {
            case "recent":
                guard let item = shown.node.item, item.kind == .file else { return false }
                return item.mediaType.map { filter.split(separator: ",").contains($0[...]) } ?? false
            default:
                let item = shown.item
                guard shown.node.isPublished == true, item?.isPublished != true || shown.node.item != nil else {
                    return false
                }
                return filter == "all" || item?.kind.rawValue == filter
            }
        }
    }

    func rows(for row: DiskRow) -> [DiskRow] {
        let source = row.item.path
        guard let folder = query.folder else { return self.row(inPlaceOf: row).map { [$0] } ?? [] }
        return view.paths(inPlaceOf: source, in: folder, ahead: ahead).compactMap { path in
            if view.visible(source) == path { return view.row(row, at: path, queue) }
            return shown(at: path).flatMap { view.row(of: $0, queue) { _ in nil } }
        }
    }

    /// Returns the future row of a list without folders; nil if it will not be in the list, or is one of the added
    /// rows.
    private func row(inPlaceOf row: DiskRow) -> DiskRow? {
        guard let path = view.visible(row.item.path) else { return nil }
        let shown = view.row(row, at: path, queue)
        guard query.list == Listing.published else { return shown }
        let isAdded = self.shown(at: path).map(Self.isAdded(to: query)) ?? false
        return shown.item.isPublished && !isAdded ? shown : nil
    }

    private func shown(at path: DiskPath) -> PendingView.Shown? {
        guard let node = view.tree.node(path), let write = node.write else { return nil }
        return PendingView.Shown(path, node, write, queue.entries[number: write]?.work.subject, isAdded: false)
    }
}

/// The order of a folder, as the API names it.
struct ListOrder: Sendable {
    let name: String
    let isDescending: Bool

    init(_ sort: String) {
        isDescending = sort.hasPrefix("-")
        name = isDescending ? String(sort.dropFirst()) : sort
    }

    func precedes(_ one: PendingView.Shown, _ other: PendingView.Shown) -> Bool {
        let (first, second) = isDescending ? (other, one) : (one, other)
        let (firstKey, secondKey) = (key(first), key(second))
        if firstKey != secondKey { return firstKey < secondKey }
        return first.path.text.utf8.lexicographicallyPrecedes(second.path.text.utf8)
    }

    private func key(_ row: PendingView.Shown) -> Double { row.item.map(key) ?? 0 }

    private func key(_ item: DiskItem) -> Double {
        switch name {
        case "created": item.created?.timeIntervalSince1970 ?? 0
        case "modified": item.modified?.timeIntervalSince1970 ?? 0
        case "size": Double(item.size ?? 0)
        default: 0
        }
    }

    /// Returns rows of several folders in this order.
    func sorted(_ rows: [DiskRow]) -> [DiskRow] {
        let keyed = rows.map { row in
            (
                row: row, key: key(row.item), name: name == "name" ? row.item.name.partFolded : "",
                path: row.item.path.text
            )
        }
        return keyed.sorted { one, other in
            let (first, second) = isDescending ? (other, one) : (one, other)
            return (first.key, first.name, first.path) < (second.key, second.name, second.path)
        }.map(\.row)
    }
}

extension Listing {
    /// Returns a page of a list after the pending writes.
    ///
    /// - Throws: 404 `not-found` for a folder that will be gone; `Problem`, `UpstreamFailure`, `StorageError`.
    func page(
        of list: PendingListPage,
        _ cachePolicy: CachePolicy,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        let (query, added) = (list.query, list.added())
        let asked = query.page
        let first = added.dropFirst(asked.offset).prefix(asked.limit)
        var page = DiskPage([], keys: [], total: added.count, hasMore: asked.end < added.count, revision: nil)
        var result = ReadResult.made(at: list.madeAt)
        if let source = try source(of: list) {
            // The added rows shift the rows of the API. If they fill the page, those decide only whether more follow:
            // the first page of the API tells that, and is stored.
            let rest = asked.limit - first.count
            let start = max(0, asked.offset - added.count)
            let part = PageRequest(limit: rest == 0 ? asked.limit : rest, offset: start)
            do {
                (page, result) = try await self.page(part, of: list, at: source, cachePolicy, resource)
                page.total = page.total.map { max(0, $0 + list.difference) + added.count }
                let rows = page.rows.flatMap(list.rows)
                page.hasMore = page.hasMore || asked.end < added.count || rest == 0 && !rows.isEmpty
                page.rows = rest == 0 ? [] : rows
                page.isPartial = page.isPartial && rest > 0
            } catch let failure as UpstreamFailure
                where rest == 0 && cachePolicy != .onlyIfCached && isOfDisk(failure)
            {
                // The page is full; only whether more follow is not known.
                (page.total, page.hasMore) = (nil, true)
                (result.provenance.stale, result.provenance.offline) = (true, !client.isReachable)
            }
        }
        let shown = try store.rows(of: first, list.view, list.queue, account: list.session.account)
        page.rows = shown + page.rows
        page.pending = Meta.PendingWrites(list.queue)
        return (page, result)
    }

    /// Whether the API has failed, and not the server of its tokens.
    private func isOfDisk(_ failure: UpstreamFailure) -> Bool {
        failure.problem.upstream?.name == client.upstream.configuration.name
    }

    /// Returns a part of a list without the pending writes; of a folder that the API may have moved already, from its
    /// new path.
    private func page(
        _ part: PageRequest,
        of list: PendingListPage,
        at source: DiskPath,
        _ cachePolicy: CachePolicy,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        let (query, session) = (list.query, list.session)
        func page(of folder: DiskPath?) async throws -> (DiskPage, ReadResult) {
            let part = query.part(part, of: folder, for: session.account)
            return try await self.page(part, of: query, for: session, cachePolicy, resource)
        }
        guard let folder = query.folder else { return try await page(of: nil) }
        do {
            return try await page(of: source)
        } catch let problem as Problem
            where problem.code == .notFound && source != folder && list.ahead.contains(where: { $0.covers(source) })
        {
            var (moved, result) = try await page(of: folder)
            for index in moved.rows.indices {
                moved.rows[index].item = moved.rows[index].item.at(source.child(moved.rows[index].item.path.name))
            }
            return (moved, result)
        }
    }

    /// Returns the path that the folder of a list has at the API; nil for a folder that the API does not have yet.
    private func source(of list: PendingListPage) throws -> DiskPath? {
        guard let folder = list.query.folder else { return .root }
        switch list.view.tree.item(at: folder) {
        case .nothing: throw Problem.notFound("A write that waits in the outbox leaves nothing at \(folder.name).")
        case .upstream(let source, _): return source
        case .made(let item, _):
            guard item.kind == .dir else {
                throw Problem(
                    .notAFolder,
                    "\(folder.name) is a file; its screen is \(folder.link(to: "/v1/disk/file"))."
                )
            }
            return nil
        }
    }
}
