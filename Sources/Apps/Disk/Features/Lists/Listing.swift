import Cluster
import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Upstream

/// Lists of files: the last uploaded ones, those of a folder, and published ones.
struct Listing: Sendable {
    let accounts: DiskAccounts
    let pages: PageReader
    /// Time zone of texts if a request does not name one.
    let timeZone: TimeZone
    let clock: WallClock

    var client: YandexDiskClient { accounts.reader.client }
    var store: DiskStore { accounts.store }

    /// A list that a request asks for.
    struct Query: Sendable {
        /// Name of the screen.
        let screen: String
        /// Name of the list in the store.
        let list: String
        /// The request to the API that identifies the list, apart from folder and position: its order, or its filter.
        var query: String
        let pages: PagedList
        let page: PageRequest
        /// The folder whose content it is.
        var folder: DiskPath?
        /// Shown if the list is empty.
        let empty: EmptyState
        var actions: [Action]?

        /// Returns a part of it, with the key under which the part is stored.
        func part(_ page: PageRequest, of folder: DiskPath?, for account: String) -> Part {
            let key = PageKey(
                account: DiskStore.owner(account),
                screen: list,
                query: folder.map { "\($0.text)\n\(query)" } ?? query,
                offset: page.offset,
                limit: page.limit
            )
            return Part(key: key, page: page, folder: folder)
        }
    }

    /// A part of a list at the API.
    struct Part: Sendable {
        let key: PageKey
        let page: PageRequest
        /// The path that the folder of the list has at the API.
        let folder: DiskPath?
    }

    /// Returns a list with its provenance: from the API, or from the store.
    ///
    /// - Parameter resource: Describes the request to the API.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`, `CancellationError`.
    func list(
        _ query: Query,
        _ request: ScreenRequest,
        for session: Session,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> ScreenResponse {
        let timeZone = try request.timeZone(fallback: timeZone)
        let cachePolicy = try request.cachePolicy()
        let changeToken = accounts.store.changeToken(account: session.account)
        let (page, result) = try await page(query, for: session, cachePolicy, resource)
        return try response(query, request, page, result, timeZone, result.changeToken?.and(changeToken))
    }

    /// Returns a page of a list as it will be.
    private func page(
        _ query: Query,
        for session: Session,
        _ cachePolicy: CachePolicy,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        var cachePolicy = cachePolicy
        var read: (DiskPage, ReadResult)?
        for _ in 0..<ItemReader.attempts {
            guard let (outlook, queue) = store.outlook(of: session.account) else {
                read = nil
                break
            }
            let projected = ProjectedList(query: query, outlook: outlook, queue: queue, session: session)
            let page = try await page(of: projected, cachePolicy, resource)
            // Rows that are newer than the projection over them: read again.
            if store.outbox.structure(of: session.account) == queue.structure { return page }
            read = page
            if cachePolicy == .revalidate { cachePolicy = .useCache }
        }
        // The queue changed during every attempt. The page with the pending writes is returned, so that they do not
        // vanish from the list meanwhile.
        if let read { return read }
        let part = query.part(query.page, of: query.folder, for: session.account)
        return try await page(part, of: query, for: session, cachePolicy, resource)
    }

    /// Returns a part of a list as the API has it.
    func page(
        _ part: Part,
        of query: Query,
        for session: Session,
        _ cachePolicy: CachePolicy,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        try await pages.page(
            part.key,
            on: query.screen,
            of: part.folder,
            for: session,
            through: accounts,
            cachePolicy
        ) {
            resource(part, $0)
        }
    }

    private func response(
        _ query: Query,
        _ request: ScreenRequest,
        _ page: DiskPage,
        _ result: ReadResult,
        _ timeZone: TimeZone,
        _ changeToken: ChangeToken?
    ) throws -> ScreenResponse {
        let shown = Page(query.page, page)
        let isEmpty = page.rows.isEmpty && query.page.offset == 0
        let data = RowListScreen(
            page.rows,
            timeZone: timeZone,
            folder: query.folder,
            empty: query.empty,
            isEmpty: isEmpty,
            way: WriteWay(offline: result.provenance.offline, isOutboxFull: store.isOutboxFull(page.pending)),
            actions: query.actions
        )
        let meta = Meta(
            screen: query.screen,
            state: isEmpty ? .empty : .content,
            provenance: result.provenance,
            revision: page.revision,
            partial: page.isPartial ? true : nil,
            banner: result.provenance.offline ? .diskOffline : nil,
            page: shown,
            pending: page.pending
        ).lagging(store.users.lag)
        let links = request.links(for: shown, next: query.pages.cursor(at: query.page.end))
        return try .screen(
            Envelope(data: data, meta: meta, links: links),
            provenance: result.provenance,
            now: clock.now(),
            changeToken: changeToken
        )
    }
}

extension PageRequest {
    /// Position after the last row of the page.
    var end: Int { offset.addingReportingOverflow(limit).overflow ? .max : offset + limit }
}

extension Page {
    /// Creates the page of a response. Pages follow at distances of `limit`, even if one has fewer rows: rows that the
    /// app does not know, or that were removed since, count too.
    init(_ asked: PageRequest, _ page: DiskPage) {
        self.init(asked, count: page.rows.count, total: page.total, hasMore: page.hasMore)
        if nextOffset != nil { nextOffset = asked.end }
    }
}
