import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

extension DiskService {
    /// Kinds of files that the upstream tells apart (Yandex Disk REST API, "media_type").
    static let mediaTypes: Set<String> = [
        "audio", "backup", "book", "compressed", "data", "development", "diskimage", "document", "encoded",
        "executable", "flash", "font", "image", "settings",
        "spreadsheet", "text", "unknown", "video", "web",
    ]
    /// What the original app asks for.
    private static let recentMediaTypes = ["document", "image", "spreadsheet"]
    /// Most rows that one request to the upstream brings.
    private static let mostRows = 1000

    /// `GET /v1/disk/recent`. The upstream knows no offset here, so everything up to the page is asked for.
    @Sendable func recent(_ request: ScreenRequest) async throws -> ScreenResponse {
        let asked = try request.query.page(defaultLimit: 20)
        let mediaTypes = try mediaTypes(request)
        let account = try await account(of: request)
        // One more than the page tells whether another follows.
        let end = min(asked.end, Self.mostRows) == asked.end ? min(asked.end + 1, Self.mostRows) : Self.mostRows
        let key = PageKey(
            account: DiskStore.owner(account.id),
            screen: "recent",
            query: mediaTypes,
            offset: asked.offset,
            limit: asked.limit
        )
        return try await list(request, account, asked, key, "disk.recent", empty: .recent) {
            token,
            epoch,
            now,
            changed in
            api.lastUploaded(limit: end, mediaTypes: mediaTypes, token, account: account.id) { record in
                let items = Self.unique(record.items)
                return store.persistRows(
                    Array(items.dropFirst(asked.offset).prefix(asked.limit)),
                    beside: Array(items.prefix(asked.offset)),
                    as: key,
                    hasMore: record.items.count > asked.end,
                    account: account.id,
                    epoch: epoch,
                    at: now,
                    changed: changed
                )
            }
        }
    }

    private func mediaTypes(_ request: ScreenRequest) throws -> String {
        guard let text = try request.query.string("media_type"), !text.isEmpty else {
            return Self.recentMediaTypes.joined(separator: ",")
        }
        let types = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard types.allSatisfy(Self.mediaTypes.contains) else {
            throw Problem.invalidParameter(
                "media_type",
                accepted: "accepts, divided by commas: \(Self.mediaTypes.sorted().joined(separator: ", "))"
            )
        }
        return Set(types).sorted().joined(separator: ",")
    }

    /// `GET /v1/disk/files`: what is in a folder.
    @Sendable func files(_ request: ScreenRequest) async throws -> ScreenResponse {
        let asked = try request.query.page(defaultLimit: 20)
        let path = try request.diskPath(fallback: .root)
        let sort = try request.query.string("sort") ?? "created"
        guard
            ["name", "path", "created", "modified", "size"].contains(
                sort.hasPrefix("-") ? String(sort.dropFirst()) : sort
            )
        else {
            throw Problem.invalidParameter(
                "sort",
                accepted: "accepts name, path, created, modified or size, with - before it the other way round"
            )
        }
        let account = try await account(of: request)
        let key = PageKey(
            account: DiskStore.owner(account.id),
            screen: "files",
            query: "\(path.text)\n\(sort)",
            offset: asked.offset,
            limit: asked.limit
        )
        return try await list(request, account, asked, key, "disk.files", folder: path, empty: .folder) {
            token,
            epoch,
            now,
            changed in
            api.folder(path, limit: asked.limit, offset: asked.offset, sort: sort, token, account: account.id) {
                record throws(UpstreamError) in
                let own = record.item.map { [$0] } ?? []
                guard record.kind != .file else {
                    return store.persistRows(
                        own,
                        as: nil,
                        about: path,
                        account: account.id,
                        epoch: epoch,
                        at: now,
                        changed: changed
                    )
                }
                guard let embedded = record.embedded else {
                    throw .badResponse(status: .ok, reason: "a folder without its content")
                }
                let items = Self.unique(embedded.items.prefix(asked.limit))
                return store.persistRows(
                    items,
                    beside: own,
                    as: key,
                    folder: path,
                    total: embedded.total,
                    hasMore: embedded.total.map { asked.end < $0 && !embedded.items.isEmpty }
                        ?? (embedded.items.count >= asked.limit),
                    account: account.id,
                    epoch: epoch,
                    at: now,
                    changed: changed
                )
            }
        }
    }

    /// `GET /v1/disk/published`.
    @Sendable func published(_ request: ScreenRequest) async throws -> ScreenResponse {
        let asked = try request.query.page(defaultLimit: 20)
        let type = try request.query.string("type") ?? "all"
        guard ["all", "file", "dir"].contains(type) else {
            throw Problem.invalidParameter("type", accepted: "accepts all, file or dir")
        }
        let account = try await account(of: request)
        let key = PageKey(
            account: DiskStore.owner(account.id),
            screen: "published",
            query: type,
            offset: asked.offset,
            limit: asked.limit
        )
        let refresh = Action(id: "refresh", title: "Refresh", method: "GET", href: "/v1/disk/published?refresh=1")
        return try await list(request, account, asked, key, "disk.published", empty: .published, actions: [refresh]) {
            token,
            epoch,
            now,
            changed in
            api.published(
                limit: asked.limit + 1,
                offset: asked.offset,
                type: type == "all" ? nil : type,
                token,
                account: account.id
            ) { record in
                let items = Self.unique(record.items.prefix(asked.limit)).map { item in
                    // Whatever the response says of links: what this list has is published.
                    var item = item
                    item.isPublished = true
                    return item
                }
                return store.persistRows(
                    items,
                    as: key,
                    hasMore: record.items.count > asked.limit,
                    account: account.id,
                    epoch: epoch,
                    at: now,
                    changed: changed
                )
            }
        }
    }

    /// The first of each path: a list shows nothing twice, and nothing that is not known.
    static func unique(_ items: some Sequence<DiskItem?>) -> [DiskItem] {
        var seen = Set<DiskPath>()
        return items.compactMap { $0 }.filter { seen.insert($0.path).inserted }
    }

    private typealias Listed = (
        _ token: String, _ epoch: Int64, _ now: Date, _ changed: @escaping @Sendable (Int) -> Void
    ) -> Resource

    /// A list: from the upstream or as it is stored, and truthful about which.
    private func list(
        _ request: ScreenRequest,
        _ account: DiskAccount,
        _ asked: PageRequest,
        _ key: PageKey,
        _ screen: String,
        folder: DiskPath? = nil,
        empty: EmptyState,
        actions: [Action]? = nil,
        _ resource: Listed
    ) async throws -> ScreenResponse {
        let timeZone = try timeZone(request)
        let ownValidity = store.changeToken(account: account.id)
        let changed: @Sendable (Int) -> Void = { revision in announce(screen, revision, to: account.id) }
        let (page, reading) = try await page(key, account, try request.cachePolicy(), folder: folder) { token, epoch in
            resource(token, epoch, clock.now(), changed)
        }
        let provenance = reading.provenance
        let shown = Page(asked, page)
        let isEmpty = page.rows.isEmpty && asked.offset == 0
        let data = RowListScreen(
            page.rows,
            timeZone: timeZone,
            folder: folder,
            empty: empty,
            isEmpty: isEmpty,
            actions: actions
        )
        let meta = Meta(
            screen: screen,
            state: isEmpty ? .empty : .content,
            provenance: provenance,
            revision: page.revision,
            banner: provenance.offline ? .diskOffline : nil,
            page: shown
        )
        return try .screen(
            Envelope(data: data, meta: meta, links: request.links(for: shown)),
            provenance: provenance,
            now: clock.now(),
            changeToken: reading.changeToken?.and(ownValidity)
        )
    }

    /// A page as it is stored once the upstream was asked, or could not be.
    ///
    /// Changes made while the upstream was asked are in it
    /// (``DiskStore/persistRows(_:beside:as:folder:total:hasMore:account:epoch:at:changed:)``). It
    /// is asked again only if the account was logged in anew, or if a page is not there that a stored response
    /// counts for. A page that was evicted,
    /// or that has moved with its folder, stands on its own date.
    func page(
        _ key: PageKey,
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy,
        folder: DiskPath? = nil,
        _ resource: (_ token: String, _ epoch: Int64) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        var cachePolicy = cachePolicy
        var present = account
        for _ in 0..<4 {
            let fetchedAt = try store.pageDate(key)
            let reading: ReadResult
            do {
                reading = try await read(present, cachePolicy, of: folder) { token, epoch in
                    var resource = resource(token, epoch)
                    resource.bundledAt = fetchedAt
                    return resource
                }
            } catch let failure as UpstreamFailure where failure.error == .notStored && cachePolicy != .onlyIfCached {
                guard let anew = try store.account(account.id) else { throw Self.sessionExpired }
                present = anew
                cachePolicy = .revalidate
                continue
            }
            if let page = try store.page(key, account: account.id) {
                accessRecorder.note(key, at: clock.now())
                return (page, reading)
            }
            if let folder, try store.row(folder, account: account.id)?.item.kind == .file {
                throw Problem(
                    .notAFolder,
                    "\(folder.name) is a file; its screen is \(folder.link(to: "/v1/disk/file"))."
                )
            }
            if cachePolicy == .onlyIfCached { throw UpstreamFailure(.notStored, of: api.upstream) }
            if let absence = absence(reading) { throw absence }
            if let folder, reading.provenance.source == .upstream {
                throw Problem.notFound("\(folder.name) was deleted or moved while it was read.")
            }
            present = try store.account(account.id) ?? present
            cachePolicy = .revalidate
        }
        throw UpstreamFailure(
            .badResponse(status: nil, reason: "the account was logged in anew while it was read"),
            of: api.upstream
        )
    }
}

extension PageRequest {
    /// Position behind the last row asked for.
    var end: Int { offset.addingReportingOverflow(limit).overflow ? .max : offset + limit }
}

extension Page {
    /// Pages follow at distances of `limit`, also where one has fewer rows: where something is in it that the app does
    /// not know, or that is gone since.
    init(_ asked: PageRequest, _ page: DiskPage) {
        self.init(asked, count: page.rows.count, total: page.total, hasMore: page.hasMore)
        nextOffset = page.hasMore ? asked.end : nil
    }
}
