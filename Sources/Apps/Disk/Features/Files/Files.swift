import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Media
import NIOCore
import Screens
import Storage
import Upstream

/// The screens of single files and folders.
struct Files: Sendable {
    let disk: Disk

    /// `GET /v1/disk/file`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let timeZone = try request.timeZone(fallback: disk.timeZone)
        let cachePolicy = try request.cachePolicy()
        let changeToken = disk.store.changeToken(account: session.account)
        let readToken = disk.client.upstream.readToken()
        let (account, stored) = try await disk.account(of: session) {
            try disk.pending.stored(path, for: $0, cachePolicy, since: readToken)
        }
        let (row, result) =
            if let stored { stored } else { try await disk.pending.item(path, for: account, cachePolicy) }
        return try disk.fileResponse(
            row,
            request,
            timeZone,
            result.provenance,
            account: account.id,
            changeToken: result.changeToken?.and(changeToken)
        )
    }
}

extension Disk {
    /// Returns the response with the screen of a row.
    ///
    /// - Parameter account: The account, for the number of its writes that wait; nil in the response to a write.
    func fileResponse(
        _ row: DiskRow,
        _ request: ScreenRequest,
        _ timeZone: TimeZone,
        _ provenance: Provenance,
        status: HTTPResponse.Status = .ok,
        account: String? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let link = row.item.path.link(to: "/v1/disk/file")
        let pending = account.flatMap(store.pendingWrites)
        let screen = FileScreen(
            row,
            timeZone: timeZone,
            availability: Availability(provenance, pending, of: account, store),
            convertsOffice: media.office.isAvailable
        )
        var response = try response(
            screen,
            "disk.file",
            provenance,
            links: Links(self: request.method == .get ? request.selfLink : link),
            pending: pending,
            lag: store.users.lag,
            status: status,
            headerFields: status == .created ? [.location: link.requestTarget] : [:],
            changeToken: changeToken
        )
        response.version = row.item.screenVersion
        return response
    }

    /// Returns the response with a screen of data of the API.
    ///
    /// - Parameter lag: That of the rows of users which it shows.
    func response(
        _ data: some Encodable & Sendable,
        _ screen: String,
        _ provenance: Provenance = Provenance(source: .upstream),
        links: Links,
        state: ScreenState = .content,
        revision: Int? = nil,
        partial: Bool? = nil,
        page: Page? = nil,
        variant: SearchVariant? = nil,
        pending: Meta.PendingWrites? = nil,
        lag: UserDatabase.Lag? = nil,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let meta = Meta(
            screen: screen,
            state: state,
            provenance: provenance,
            revision: revision,
            partial: partial,
            banner: provenance.offline ? .diskOffline : nil,
            page: page,
            pending: pending
        )
        return try .screen(
            Envelope(data: data, meta: meta.searched(variant).lagging(lag), links: links),
            status: status,
            provenance: provenance,
            now: clock.now(),
            headerFields: headerFields,
            changeToken: changeToken
        )
    }
}

/// The content of files.
struct Content: Sendable {
    let disk: Disk

    private var items: PendingItems { disk.pending }
    private var files: StoredFiles { disk.files }

    /// `GET /v1/disk/file/content`: the bytes, or a range of them. They come from the store if the present version is
    /// there, else from the API; the whole is stored while it passes.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let cachePolicy = try request.cachePolicy()
        let readToken = disk.client.upstream.readToken()
        let (account, known) = try await disk.account(of: session) {
            try stored(path, for: $0, cachePolicy, since: readToken)
        }
        let (present, result, found) =
            if let known { known } else { try await read(path, for: account, cachePolicy) }
        if let stored = try await files.open(found, of: present, account: account.id) {
            let content = stored.content(of: present, type: DiskItem.shownType(stored.type))
            return try .content(content, to: request, provenance: stored.provenance(result), now: disk.clock.now())
        }
        // Offline an older version is better than none; its entity tag says which one it is.
        if result.provenance.offline, let kept = found.kept,
            let kept = try await files.open(kept, of: present, account: account.id)
        {
            var item = present
            item.modified = nil
            let content = kept.content(of: item, type: DiskItem.shownType(kept.type), version: kept.version)
            return try .content(content, to: request, provenance: kept.provenance(result), now: disk.clock.now())
        }
        guard cachePolicy != .onlyIfCached else { throw disk.client.notStored }
        guard !result.provenance.offline else { throw disk.client.unreachable }
        let item = try await items.presentVersion(of: present, result, for: account)
        return try await fetched(item, request, for: account)
    }

    private typealias Known = (DiskItem, ReadResult, StoredFiles.Bodies)

    /// Finds the file and its content in one transaction; nil if the API may have to be requested.
    private func stored(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        since readToken: ReadToken
    ) throws -> Known? {
        guard let (item, result) = try items.storedFile(path, for: account, cachePolicy, since: readToken) else {
            return nil
        }
        return (item, result, try files.find(.content, of: item, account: account.id))
    }

    private func read(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> Known {
        let (row, result) = try await items.file(path, for: account, cachePolicy)
        return (row.item, result, try files.find(.content, of: row.item, account: account.id))
    }

    private func fetched(_ item: DiskItem, _ request: ScreenRequest, for account: DiskAccount) async throws
        -> ScreenResponse
    {
        guard let size = item.size, let version = item.version else { throw disk.client.sizeMissing }
        // Nothing is fetched for HEAD.
        let isStored = !request.isHead && !request.headerFields.contains(.range) && disk.budget.admits(size)
        let unread = FileContent(
            type: DiskItem.shownType(item.servedType),
            length: size,
            version: version,
            lastModified: item.modified,
            fileName: item.name
        ) { _ in
            ByteStream(ByteBuffer())
        }
        let now = disk.clock.now()
        let provenance = Provenance.fetched(at: now, stored: isStored)
        return try await .content(unread, to: request, provenance: provenance, now: now) { range in
            guard range.count == size else { return try await disk.fetcher.part(range, of: item, for: account) }
            return try await disk.fetcher.whole(of: item, size: size, for: account)
        }
    }
}
