import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Lists of files: the last uploaded ones, those of a folder, and published ones.
struct Listing: Sendable {
    /// Name of the list of published files in the store.
    static let published = "published"

    let disk: Disk

    var client: YandexDiskClient { disk.client }
    var store: DiskStore { disk.store }

    /// A list that a request asks for.
    struct Query: Sendable {
        /// Name of the list in the store.
        let list: String
        /// The request to the API that identifies the list, apart from folder and position: its order, or its filter.
        let query: String
        let pages: PagedList
        let page: PageRequest
        /// The folder whose content it is.
        var folder: DiskPath?
        let refresh: Link
        let empty: EmptyState

        var screen: String { "disk.\(list)" }

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
    func list(
        _ query: Query,
        _ request: ScreenRequest,
        for session: Session,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> ScreenResponse {
        let timeZone = try request.timeZone(fallback: disk.timeZone)
        let cachePolicy = try request.cachePolicy()
        let changeToken = store.changeToken(account: session.account)
        let (page, result) = try await page(query, for: session, cachePolicy, resource)
        let shown = Page(query.page, page)
        let isEmpty = page.rows.isEmpty && query.page.offset == 0
        let data = RowListScreen(
            page.rows,
            timeZone: timeZone,
            folder: query.folder,
            empty: isEmpty ? query.empty : nil,
            availability: ChangeAvailability(result.provenance, page.pending, of: session.account, store),
            actions: [.refresh(query.refresh)]
        )
        return try disk.response(
            data,
            query.screen,
            result.provenance,
            links: request.links(for: shown, next: query.pages.cursor(at: query.page.end)),
            state: isEmpty ? .empty : .content,
            revision: page.revision,
            partial: page.isPartial ? true : nil,
            page: shown,
            pending: page.pending,
            lag: store.users.lag,
            changeToken: result.changeToken?.and(changeToken)
        )
    }

    /// Returns a page of a list after the pending writes.
    private func page(
        _ query: Query,
        for session: Session,
        _ cachePolicy: CachePolicy,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        var cachePolicy = cachePolicy
        var read: (DiskPage, ReadResult)?
        for _ in 0..<Disk.attempts {
            guard let (view, queue) = store.pendingView(of: session.account) else {
                read = nil
                break
            }
            let projected = PendingListPage(query: query, view: view, queue: queue, session: session)
            let page = try await page(of: projected, cachePolicy, resource)
            // The rows are newer than the pending writes that were applied to them: both are read again.
            if store.outbox.structure(of: session.account) == queue.structure { return page }
            read = page
            if cachePolicy == .revalidate { cachePolicy = .useCache }
        }
        // The queue changed during every attempt. The page with the pending writes is returned, so that the list
        // contains them meanwhile.
        if let read { return read }
        let part = query.part(query.page, of: query.folder, for: session.account)
        return try await page(part, of: query, for: session, cachePolicy, resource)
    }

    /// Returns a part of a list without the pending writes.
    func page(
        _ part: Part,
        of query: Query,
        for session: Session,
        _ cachePolicy: CachePolicy,
        _ resource: (Part, RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        try await disk.page(part.key, on: query.screen, of: part.folder, for: session, cachePolicy) {
            resource(part, $0)
        }
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

extension Listing {
    /// `GET /v1/disk/files`: the content of a folder.
    @Sendable func folder(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath(fallback: .root)
        let sort = try request.diskOrder() ?? "created"
        let pages = PagedList(positionsOf: "disk.files", by: sort, filter: path.text)
        let asked = try request.query.page(of: pages, defaultLimit: 20)
        let query = Query(
            list: "files",
            query: sort,
            pages: pages,
            page: asked,
            folder: path,
            refresh: path.link(to: "/v1/disk/files").query("refresh", "1"),
            empty: .folder(path)
        )
        return try await list(query, request, for: session) { part, rows in
            let (folder, page) = (part.folder ?? path, part.page)
            let young = store.changeLogs.young(of: session.account, at: disk.clock.now())
            return client.folder(
                folder,
                page,
                sort: sort,
                account: session.account,
                isPresent: young?.covers(folder) == true
            ) {
                [store] record throws(UpstreamError) in
                store.persistRows(try record.fetchedRows(of: folder, page, as: part.key), rows)
            }
        }
    }
}

extension ResourceRecord {
    /// Returns the rows of a part of a folder, or the one row of a file at its place.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for a folder without its content.
    fileprivate func fetchedRows(
        of path: DiskPath,
        _ asked: PageRequest,
        as key: PageKey
    ) throws(UpstreamError) -> FetchedRows {
        let own = item.map { [$0] } ?? []
        guard kind != .file else { return FetchedRows(rows: own.map { .item($0) }, subject: path) }
        guard let embedded else { throw .badResponse(status: .ok, reason: "a folder without its content") }
        return FetchedRows(
            rows: embedded.rows.prefix(asked.limit).uniqueByPath,
            others: own,
            key: key,
            folder: path,
            total: embedded.total,
            hasMore: embedded.hasMore(after: asked)
        )
    }
}

extension ResourceRecord.Embedded {
    /// Whether rows follow the requested page: as the total says, else if the page is full.
    func hasMore(after asked: PageRequest) -> Bool {
        total.map { asked.end < $0 && !rows.isEmpty } ?? (rows.count >= asked.limit)
    }
}

extension Listing {
    /// `GET /v1/disk/published`.
    @Sendable func published(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let type = try request.itemType()
        let pages = PagedList(positionsOf: "disk.published", filter: type)
        let asked = try request.query.page(of: pages, defaultLimit: 20)
        let query = Query(
            list: Self.published,
            query: type,
            pages: pages,
            page: asked,
            refresh: "/v1/disk/published?refresh=1",
            empty: .published
        )
        return try await list(query, request, for: session) { part, rows in
            client.published(
                PageRequest(limit: part.page.limit + 1, offset: part.page.offset),
                type: type == "all" ? nil : type,
                account: session.account
            ) { [store] record in
                store.persistRows(record.publishedRows(part.page, as: part.key), rows)
            }
        }
    }
}

extension FlatListRecord {
    /// Returns the rows of a page of published items. They are published because they are in this list, whether or not
    /// the response has a link.
    fileprivate func publishedRows(_ asked: PageRequest, as key: PageKey) -> FetchedRows {
        let page = rows.prefix(asked.limit).uniqueByPath.map { row in
            guard case .item(var item) = row else { return row }
            item.isPublished = true
            return .item(item)
        }
        return FetchedRows(rows: page, key: key, hasMore: rows.count > asked.limit)
    }
}

extension Listing {
    /// Media types of the API ("media_type" in the Yandex Disk REST API).
    static let mediaTypes: Set<String> = [
        "audio", "backup", "book", "compressed", "data", "development", "diskimage", "document", "encoded",
        "executable", "flash", "font", "image", "settings", "spreadsheet", "text", "unknown", "video", "web",
    ]
    /// Media types that the original app asks for.
    private static let recentMediaTypes = ["document", "image", "spreadsheet"]
    /// Maximum number of rows of one request to the API.
    private static let maximumRows = 1000

    /// `GET /v1/disk/recent`. The API has no offset for this list, so everything up to the page is requested.
    @Sendable func recent(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let mediaTypes = (try request.mediaTypes() ?? Self.recentMediaTypes).joined(separator: ",")
        let pages = PagedList(positionsOf: "disk.recent", filter: mediaTypes)
        let asked = try request.query.page(of: pages, defaultLimit: 20)
        let query = Query(
            list: "recent",
            query: mediaTypes,
            pages: pages,
            page: asked,
            refresh: "/v1/disk/recent?refresh=1",
            empty: .recent
        )
        return try await list(query, request, for: session) { part, rows in
            // One row more than the page tells whether another page follows.
            let end = min(part.page.end, Self.maximumRows - 1) + 1
            return client.lastUploaded(limit: end, mediaTypes: mediaTypes, account: session.account) {
                [store] record in
                store.persistRows(record.recentRows(part.page, as: part.key), rows)
            }
        }
    }
}

extension ScreenRequest {
    private static let orders = ["name", "path", "created", "modified", "size"]

    /// Reads the order of a list from the query; nil if it is left to the list.
    func diskOrder() throws -> String? {
        guard let order = try query.string("sort") else { return nil }
        guard Self.orders.contains(order.hasPrefix("-") ? String(order.dropFirst()) : order) else {
            throw Problem.invalidParameter(
                "sort",
                accepted: "accepts \(Self.orders.joined(separator: ", ")), with - before it the other way round"
            )
        }
        return order
    }

    /// Reads from the query whether files or folders are requested: `all`, `file` or `dir`.
    func itemType() throws -> String {
        let type = try query.string("type") ?? "all"
        guard ["all", "file", "dir"].contains(type) else {
            throw Problem.invalidParameter("type", accepted: "accepts all, file or dir")
        }
        return type
    }

    /// Reads the requested media types from the query, sorted; nil if none is named.
    func mediaTypes() throws -> [String]? {
        guard let text = try query.string("media_type"), !text.isEmpty else { return nil }
        let types = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard types.allSatisfy(Listing.mediaTypes.contains) else {
            throw Problem.invalidParameter(
                "media_type",
                accepted: "accepts, divided by commas: \(Listing.mediaTypes.sorted().joined(separator: ", "))"
            )
        }
        return Set(types).sorted()
    }
}

extension FlatListRecord {
    /// Returns the rows of a page of a list that was requested from its beginning.
    fileprivate func recentRows(_ asked: PageRequest, as key: PageKey) -> FetchedRows {
        let unique = rows.uniqueByPath
        return FetchedRows(
            rows: Array(unique.dropFirst(asked.offset).prefix(asked.limit)),
            others: unique.prefix(asked.offset).items,
            key: key,
            hasMore: rows.count > asked.end
        )
    }
}
