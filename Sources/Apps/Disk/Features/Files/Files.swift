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
            availability: ChangeAvailability(provenance, pending, of: account, store),
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

/// A file that is served, with its account, the read of its metadata, and its stored bodies of one kind.
struct ServedFile: Sendable {
    var item: DiskItem
    let account: DiskAccount
    let result: ReadResult
    let found: StoredFiles.Bodies
}

extension Disk {
    /// Finds a file and a body of it: in one transaction if the API need not be requested.
    func servedFile(_ path: DiskPath, _ body: DiskStore.Body, of session: Session, _ cachePolicy: CachePolicy)
        async throws -> ServedFile
    {
        func served(_ item: DiskItem, _ result: ReadResult, _ account: DiskAccount) throws -> ServedFile {
            let found = try files.find(body, of: item, account: account.id)
            return ServedFile(item: item, account: account, result: result, found: found)
        }
        let readToken = client.upstream.readToken()
        let (account, stored) = try await account(of: session) { account in
            try pending.storedFile(path, for: account, cachePolicy, since: readToken).map {
                try served($0, $1, account)
            }
        }
        if let stored { return stored }
        let (row, result) = try await pending.file(path, for: account, cachePolicy)
        return try served(row.item, result, account)
    }
}

/// The content of files.
struct Content: Sendable {
    let disk: Disk

    /// `GET /v1/disk/file/content`: the bytes, or a range of them. They are read from the store if it has the present
    /// version, else requested from the API; the whole is stored while it passes.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let cachePolicy = try request.cachePolicy()
        let file = try await disk.servedFile(path, .content, of: session, cachePolicy)
        let (present, account, result) = (file.item, file.account, file.result)
        if let stored = try await disk.files.open(file.found, of: present, account: account.id) {
            let content = stored.content(of: present, type: DiskItem.shownType(stored.type))
            return try .content(content, to: request, provenance: stored.provenance(result), now: disk.clock.now())
        }
        // Offline an older version is better than none; its entity tag says which one it is.
        if result.provenance.offline, let kept = file.found.kept,
            let kept = try await disk.files.open(kept, of: present, account: account.id)
        {
            var item = present
            item.modified = nil
            let content = kept.content(of: item, type: DiskItem.shownType(kept.type), version: kept.version)
            return try .content(content, to: request, provenance: kept.provenance(result), now: disk.clock.now())
        }
        guard cachePolicy != .onlyIfCached else { throw disk.client.notStored }
        guard !result.provenance.offline else { throw disk.client.unreachable }
        let item = try await disk.pending.presentVersion(of: present, result, for: account)
        return try await fetched(item, request, for: account)
    }

    private func fetched(_ item: DiskItem, _ request: ScreenRequest, for account: DiskAccount) async throws
        -> ScreenResponse
    {
        guard let size = item.size, item.version != nil else { throw disk.client.sizeMissing }
        // Nothing is fetched for HEAD.
        let isStored = !request.isHead && !request.headerFields.contains(.range) && disk.budget.admits(size)
        let unread = item.content(type: DiskItem.shownType(item.servedType), length: size) { _ in
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

extension DiskItem {
    func content(
        type: String,
        length: Int,
        parts: @escaping @Sendable (Range<Int>) throws -> ByteStream
    ) -> FileContent {
        FileContent(
            type: type,
            length: length,
            version: version ?? "",
            lastModified: modified,
            fileName: name,
            parts: parts
        )
    }
}
