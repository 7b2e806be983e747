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
    let accounts: DiskAccounts
    let pages: PageReader
    /// Time zone of texts if a request does not name one.
    let timeZone: TimeZone
    let clock: WallClock

    /// Name of the list of all files in the store.
    static let list = "all"
    /// Rows of one request to the API, and the maximum number of requests of one search.
    static let (batchSize, maximumBatches) = (1000, 5)

    var client: YandexDiskClient { accounts.reader.client }
    var store: DiskStore { accounts.store }

    /// `GET /v1/disk/search`: files and folders whose name contains a text.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let query = try query(request)
        let list = PagedList("disk.search", filter: query.text, key: [.integer])
        let asked = try request.query.page(of: list, defaultLimit: 20)
        let timeZone = try request.timeZone(fallback: timeZone)
        let (known, found) = try await found(query, asked, session, try request.cachePolicy())
        let (rows, hits) = (found.rows, found)
        let isEmpty = hits.total == 0
        var shown = Page(
            asked,
            count: rows.count,
            total: hits.total,
            totalAtLeast: hits.totalAtLeast,
            hasMore: hits.hasMore
        )
        if hits.isCut { shown.nextOffset = nil }
        return try .screen(
            Envelope(
                data: RowListScreen(
                    rows,
                    timeZone: timeZone,
                    empty: .search(query.text, isWhole: known.isWhole),
                    isEmpty: isEmpty,
                    way: WriteWay(
                        offline: known.provenance.offline,
                        isOutboxFull: store.isOutboxFull(found.pending)
                    )
                ),
                meta: meta(known, isEmpty: isEmpty, shown, found.pending),
                links: request.links(for: shown, next: hits.next.map { list.cursor(after: [.integer($0)]) })
            ),
            provenance: known.provenance,
            now: clock.now()
        )
    }

    /// Returns the searched files and the results, in one transaction if no request is needed.
    private func found(_ query: PartQuery, _ asked: PageRequest, _ session: Session, _ cachePolicy: CachePolicy)
        async throws -> (KnownFiles, Found)
    {
        let witness = client.upstream.witness()
        var attempts = ItemReader.attempts
        while true {
            let structure = store.outbox.structure(of: session.account)
            let (account, stored) = try await accounts.account(of: session) { account in
                try storedFiles(of: account, cachePolicy, since: witness).map {
                    ($0.received(account.contentChangedAt), try search(query, account, lastPart: $0.lastPart, asked))
                }
            }
            attempts -= 1
            // Names of a moment before a write was done, and the Disk as it will be of a moment after: search again.
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
        async throws -> (KnownFiles, Found)
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
    ///
    /// - Throws: 400 `invalid-parameter`.
    private func query(_ request: ScreenRequest) throws -> PartQuery {
        let text = (try request.query.string("q") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.unicodeScalars.count <= DiskPath.longestName, !text.utf8.contains(0) else {
            throw Problem.invalidParameter("q", accepted: "accepts 1 to \(DiskPath.longestName) characters")
        }
        return PartQuery(text)
    }

    private func meta(_ known: KnownFiles, isEmpty: Bool, _ page: Page, _ pending: Meta.PendingWrites?)
        -> Meta
    {
        let provenance = known.provenance
        return Meta(
            screen: "disk.search",
            state: isEmpty ? .empty : .content,
            provenance: provenance,
            partial: !known.isWhole,
            banner: provenance.offline ? .diskOffline : nil,
            page: page,
            pending: pending
        ).lagging(store.users.lag)
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
                guard let provenance = try await provenance(after: failure, account, validatedAt) else {
                    throw failure
                }
                return KnownFiles(provenance: provenance)
            }
        }
        return known ?? KnownFiles(provenance: .local)
    }

    private func part(at offset: Int, for account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> (
        DiskPage, ReadResult
    ) {
        let key = key(at: offset, for: account)
        return try await pages.page(key, on: "disk.search", for: account, cachePolicy) { rows in
            client.allFiles(limit: Self.batchSize, offset: offset, account: account.id) { [store] record in
                let hasMore = record.rows.count >= Self.batchSize
                return store.persistRows(
                    FetchedRows(rows: record.rows.uniqueByPath, key: key, hasMore: hasMore),
                    rows
                )
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
            guard try accounts.reader.tokens.isExpired(account.login) else { return nil }
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
