import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Search by name. The API cannot search, so its list of all files is brought up to date first; the rows that are known
/// here are searched.
struct Search: Sendable {
    let disk: Disk

    /// Name of the list of all files in the store.
    static let list = "all"
    /// Rows of one request to the API, and the maximum number of requests of one search.
    static let (batchSize, maximumBatches) = (1000, 5)

    private var client: YandexDiskClient { disk.client }
    private var store: DiskStore { disk.store }

    /// `GET /v1/disk/search`: files and folders whose name contains a text.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let query = try query(request)
        let choice = try Choice(request)
        let list =
            choice.map { PagedList(positionsOf: "disk.search", by: $0.order, filter: "\($0.filter)\n\(query.text)") }
            ?? PagedList("disk.search", filter: query.text, key: [.integer])
        let asked = try request.query.page(of: list, defaultLimit: 20)
        let timeZone = try request.timeZone(fallback: disk.timeZone)
        let wanted = choice == nil ? asked : PageRequest(limit: Choice.most)
        let (known, whole) = try await self.found(query, wanted, session, try request.cachePolicy())
        let found = choice?.results(asked, of: whole) ?? whole
        let page = found.page
        // Of more hits than are looked through, only the first ones are chosen from.
        let isWhole = known.isWhole && (choice == nil || !whole.page.hasMore)
        let isEmpty = page.total == 0 || asked.isFirst && page.rows.isEmpty && !page.hasMore
        let (shown, next) = list.part(page, of: asked)
        let screen = RowListScreen(
            page.rows,
            timeZone: timeZone,
            namesFolders: true,
            empty: isEmpty ? .search(query.text, isWhole: isWhole) : nil,
            availability: ChangeAvailability(known.provenance, found.pending, of: session.account, store)
        )
        return try disk.response(
            screen,
            "disk.search",
            known.provenance,
            links: request.links(for: shown, next: next),
            state: isEmpty ? .empty : .content,
            partial: !isWhole,
            page: shown,
            variant: found.variant,
            pending: found.pending,
            lag: store.users.lag
        )
    }

    /// Returns the searched files and the results, in one transaction if no request is needed.
    private func found(_ query: PartQuery, _ asked: PageRequest, _ session: Session, _ cachePolicy: CachePolicy)
        async throws -> (KnownFiles, Results)
    {
        let readToken = client.upstream.readToken()
        var attempts = Disk.attempts
        while true {
            let structure = store.outbox.structure(of: session.account)
            let (account, stored) = try await disk.account(of: session) { account in
                try storedFiles(of: account, cachePolicy, since: readToken).map {
                    ($0.received(account.contentChangedAt), try search(query, account, lastPart: $0.lastPart, asked))
                }
            }
            attempts -= 1
            // A write ended between both reads, so the names are older than the pending writes: search again.
            if attempts > 0, store.outbox.structure(of: session.account) != structure { continue }
            if let stored { return stored }
            return try await foundOfAll(query, asked, account, cachePolicy)
        }
    }

    private func foundOfAll(
        _ query: PartQuery,
        _ asked: PageRequest,
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy
    )
        async throws -> (KnownFiles, Results)
    {
        let known = try await allFiles(of: account, cachePolicy)
        return try store.database.read { _ in
            let present = try store.renewed(account) ?? account
            return (
                known.received(present.contentChangedAt),
                try search(query, account, lastPart: known.lastPart, asked)
            )
        }
    }

    /// Reads the text to be searched for.
    private func query(_ request: ScreenRequest) throws -> PartQuery {
        let text = (try request.query.string("q") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.unicodeScalars.count <= DiskPath.longestName, !text.utf8.contains(0) else {
            let accepted: Text = "accepts 1 to \(DiskPath.longestName) characters"
            throw Problem.invalidParameter("q", accepted: accepted, dialog: Problem.Dialog(message: .whatToSearch))
        }
        return PartQuery(text)
    }

    /// Brings the rows of all files up to date as far as possible; if that fails, the known rows are searched.
    private func allFiles(of account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> KnownFiles {
        var known: KnownFiles?
        for batch in 0..<Self.maximumBatches {
            let offset = batch * Self.batchSize
            do {
                let (page, result) = try await part(at: offset, for: account, cachePolicy)
                known = KnownFiles(known, with: result.provenance, at: page.hasMore ? nil : offset)
                if !page.hasMore { break }
            } catch let failure as UpstreamFailure {
                // The list of all files is incomplete. Rows that were stored for other screens can be searched
                // nevertheless.
                let validatedAt = known?.provenance.validatedAt ?? account.linkedAt
                guard let provenance = try await provenance(after: failure, account, validatedAt) else { throw failure }
                return KnownFiles(provenance: provenance)
            }
        }
        return known ?? KnownFiles(provenance: .local)
    }

    private func part(at offset: Int, for account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> (
        DiskPage, ReadResult
    ) {
        let key = key(at: offset, for: account)
        return try await disk.page(key, on: "disk.search", for: account, cachePolicy) { rows in
            client.allFiles(PageRequest(limit: Self.batchSize, offset: offset), account: account.id) { [store] record in
                let hasMore = record.rows.count >= Self.batchSize
                return store.persistRows(FetchedRows(rows: record.rows.uniqueByPath, key: key, hasMore: hasMore), rows)
            }
        }
    }

    /// Returns the provenance of known rows after a failure; nil for a failure that is news.
    private func provenance(after failure: UpstreamFailure, _ account: DiskAccount, _ validatedAt: Date) async throws
        -> Provenance?
    {
        var isOffline = false
        var detail = "offline"
        var wasSent = failure.wasSent
        switch failure.error {
        case _ where failure.problem.upstream?.name != client.upstream.configuration.name:
            // OAuth has not renewed the token. If it has expired, nothing was sent to the API; else the API has refused
            // it.
            guard try disk.tokens.isExpired(account.login) else { return nil }
            (isOffline, wasSent) = (true, false)
        case .unreachable:
            isOffline = true
            if wasSent { detail = "unreachable" }
        case .failing: detail = wasSent ? "stale-if-error" : "retry-after"
        case .badResponse(_?, _): detail = "bad-response"
        default: return nil
        }
        let cacheStatus =
            wasSent
            ? CacheStatus(.forward(.uriMiss), forwardStatus: failure.error.status?.code, detail: detail)
            : CacheStatus(.hit, detail: detail)
        return Provenance(
            source: .upstream,
            offline: isOffline,
            stale: !isOffline,
            validatedAt: validatedAt,
            cacheStatus: cacheStatus
        )
    }
}

extension Search {
    /// The kinds and the order of hits that a request asks for, other than all hits, the last modified first.
    private struct Choice {
        /// Most hits that are looked through.
        static let most = 1000

        let order: String?
        private let type: String
        private let mediaTypes: [String]?

        /// Nil if it asks for neither.
        init?(_ request: ScreenRequest) throws {
            (order, type, mediaTypes) = (try request.diskOrder(), try request.itemType(), try request.mediaTypes())
            if order == nil, type == "all", mediaTypes == nil { return nil }
        }

        var filter: String { "\(type) \(mediaTypes?.joined(separator: ",") ?? "")" }

        private func includes(_ item: DiskItem) -> Bool {
            guard type == "all" || type == item.kind.rawValue else { return false }
            return mediaTypes.map { item.mediaType.map($0.contains) ?? false } ?? true
        }

        func results(_ asked: PageRequest, of all: Results) -> Results {
            let chosen = all.page.rows.filter { includes($0.item) }
            let rows = (order.map { ListOrder($0).sorted(chosen) } ?? chosen).dropFirst(asked.offset)
            var results = all
            let next = [CursorValue.integer(Int64(asked.end))]
            let page = Array(rows.prefix(asked.limit))
            results.page = ListPage(page, hasMore: rows.count > asked.limit, key: next)
            (results.page.total, results.page.totalAtLeast) =
                all.page.hasMore ? (nil, chosen.count) : (chosen.count, nil)
            return results
        }
    }

    struct Results: Sendable {
        /// The key after which the next page begins is a rank, or below zero a number of rows that are made here.
        var page: ListPage<DiskRow>
        /// The words that were searched for in place of those of the text; nil if they were those.
        var variant: SearchVariant?
        /// The writes that wait; nil if none does.
        var pending: Meta.PendingWrites?
    }

    /// Searches the names after the pending writes: those that are made or changed here first, the last one first.
    func search(_ query: PartQuery, _ account: DiskAccount, lastPart: Int?, _ asked: PageRequest) throws -> Results {
        guard let (view, queue) = store.pendingView(of: account.id) else {
            let (rows, hits) = try store.search(query, account: account.id, lastPart: lastPart, page: asked)
            return Results(page: ListPage(rows, of: hits), variant: hits.variant)
        }
        let last = asked.key?[0].integer
        let first = last.map { $0 < 0 ? Int(clamping: $0.magnitude) : 0 } ?? asked.offset
        // Behind a rank, all of them were shown.
        let isBehind = last.map { $0 >= 0 } ?? false
        let matches = view.lists.search(query, first: min(first, Int(Int32.max)), limit: isBehind ? 0 : asked.limit)
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
        let present = found.compactMap { row(for: $0, view, queue) }
        let rows = try store.rows(of: added, view, queue, account: account.id) + (rest == 0 ? [] : present)
        var result = ListPage(rows, of: hits)
        result.hasMore = hits.hasMore || start + added.count < matches.count || rest == 0 && !present.isEmpty
        if rest == 0 { result.key = [.integer(-Int64(start + added.count))] }
        result.total = !result.hasMore && asked.isFirst ? rows.count : nil
        result.totalAtLeast = result.total == nil ? max(matches.count, start + rows.count) : nil
        return Results(page: result, variant: hits.variant, pending: Meta.PendingWrites(queue))
    }

    /// Returns the row of a name that does not change; nil if it will be gone, or is among those that change.
    private func row(for row: DiskRow, _ view: PendingView, _ queue: OutboxQueue<QueuedWrite>) -> DiskRow? {
        guard let path = view.visible(row.item.path), view.tree.node(path)?.write == nil else { return nil }
        return view.row(row, at: path, queue)
    }

    /// The rows that a search looks through.
    struct KnownFiles {
        var provenance: Provenance
        /// Offset of the last part of the list of all files; nil if not all of it is stored.
        var lastPart: Int?

        /// Whether all files are searched, as far as is known now.
        var isWhole: Bool { lastPart != nil && !provenance.offline }

        /// Returns the same, received with the newest row of any list: a search looks through all of them.
        func received(_ changedAt: Date?) -> KnownFiles {
            var known = self
            known.provenance.contentFetchedAt = changedAt
            return known
        }
    }

    /// Returns the known files if all parts of their list are served without a request.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func storedFiles(of account: DiskAccount, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws
        -> KnownFiles?
    {
        var known: KnownFiles?
        for batch in 0..<Self.maximumBatches {
            let offset = batch * Self.batchSize
            let key = key(at: offset, for: account)
            let resource = client.allFiles(PageRequest(limit: Self.batchSize, offset: offset), account: account.id) {
                _ in .none
            }
            guard let result = try disk.stored(resource, for: account, cachePolicy, since: readToken),
                let part = try store.ending(key)
            else { return nil }
            disk.accessRecorder.note(key, at: disk.clock.now())
            var provenance = result.provenance
            if part.lacksRows { provenance.stale = true }
            known = KnownFiles(known, with: provenance, at: part.hasMore ? nil : offset)
            if !part.hasMore { break }
        }
        return known
    }

    func key(at offset: Int, for account: DiskAccount) -> PageKey {
        PageKey(account: DiskStore.owner(account.id), screen: Self.list, offset: offset, limit: Self.batchSize)
    }
}

extension Search.KnownFiles {
    /// Adds a part to earlier ones: the whole is as good as the worst of its parts.
    init(_ earlier: Self?, with part: Provenance, at lastPart: Int?) {
        let known = earlier.map(\.provenance).flatMap { $0.stale && !part.offline ? $0 : nil }
        self.init(provenance: known ?? part, lastPart: lastPart)
    }
}
