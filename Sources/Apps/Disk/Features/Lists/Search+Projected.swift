import Foundation
import Screens
import Storage
import Upstream

extension Search {
    /// A page of search results.
    struct Found: Sendable {
        var rows: [DiskRow]
        var total: Int?
        var totalAtLeast: Int?
        var hasMore: Bool
        var isCut: Bool
        /// The key behind which the next page begins: a rank, or below zero a number of rows that are made here.
        var next: Int64?
        /// The writes that wait; nil if none does.
        var pending: Meta.PendingWrites?

        init(_ rows: [DiskRow], _ hits: SearchHits) {
            self.rows = rows
            (total, totalAtLeast) = (hits.total, hits.totalAtLeast)
            (hasMore, isCut, next) = (hits.hasMore, hits.isCut, hits.next)
        }
    }

    /// Searches the names as they will be: those that are made or changed here first, the last one first.
    func search(_ query: PartQuery, _ account: DiskAccount, lastPart: Int?, _ asked: PageRequest) throws -> Found {
        guard let (outlook, queue) = store.outlook(of: account.id) else {
            let (rows, hits) = try store.search(query, account: account.id, lastPart: lastPart, page: asked)
            return Found(rows, hits)
        }
        let last = asked.key?[0].integer
        let first = last.map { $0 < 0 ? Int(clamping: $0.magnitude) : 0 } ?? asked.offset
        // Behind a rank, all of them were shown.
        let isBehind = last.map { $0 >= 0 } ?? false
        let matches = outlook.lists.search(
            query,
            first: min(first, Int(Int32.max)),
            limit: isBehind ? 0 : asked.limit
        )
        let start = isBehind ? matches.count : min(first, matches.count)
        let added = matches.page
        let rest = asked.limit - added.count
        var page = PageRequest(limit: max(rest, 1), offset: max(0, asked.offset - matches.count))
        if isBehind { page.key = asked.key }
        // How many of the API's names will be gone is not counted, so how many it has is not needed.
        let (found, hits) = try store.search(
            query,
            account: account.id,
            lastPart: lastPart,
            page: page,
            isCounted: false
        )
        var result = Found([], hits)
        let present = found.compactMap { row(for: $0, outlook, queue) }
        result.rows = try added.compactMap { try row(of: $0, account, outlook, queue) } + (rest == 0 ? [] : present)
        result.hasMore = hits.hasMore || start + added.count < matches.count || rest == 0 && !present.isEmpty
        if rest == 0 { result.next = -Int64(start + added.count) }
        result.total = !result.hasMore && asked.isFirst ? result.rows.count : nil
        result.totalAtLeast = result.total == nil ? max(matches.count, start + result.rows.count) : nil
        result.pending = Meta.PendingWrites(queue)
        return result
    }

    /// Returns the row of a name that does not change; nil if it will be gone, or is among those that change.
    private func row(for row: DiskRow, _ outlook: DiskOutlook, _ queue: OutboxQueue<QueuedWrite>) -> DiskRow? {
        guard let path = outlook.visible(row.item.path), outlook.projection.node(path)?.write == nil else { return nil }
        return outlook.row(row, at: path, queue)
    }

    private func row(
        of shown: DiskOutlook.Shown,
        _ account: DiskAccount,
        _ outlook: DiskOutlook,
        _ queue: OutboxQueue<QueuedWrite>
    ) throws -> DiskRow? {
        if let item = shown.node.item { return outlook.row(of: item.at(shown.path), shown.node, queue) }
        guard let source = shown.node.source else { return nil }
        let known = try store.row(source, account: account.id)
        let row = known ?? shown.item.map { DiskRow(item: $0.at(source), seenAt: .distantPast, isDownloaded: false) }
        return row.map { outlook.row($0, at: shown.path, queue) }
    }
}
