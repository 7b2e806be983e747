import Concurrency
import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import NIOCore
import ResponseStore
import Screens
import Upstream

/// The content of files.
struct Content: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let files: StoredFiles
    let fetcher: FileFetcher
    let clock: WallClock

    private var client: YandexDiskClient { fetcher.client }

    /// `GET /v1/disk/file/content`: the bytes, or a range of them. They come from the store if the present version is
    /// there, else from the API; the whole is stored while it passes.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let account = try await accounts.account(of: session)
        let cachePolicy = try request.cachePolicy()
        let (row, result) = try await items.file(path, for: account, cachePolicy)
        if let stored = try await files.open(.content, of: row.item, account: account.id) {
            let content = stored.content(of: row.item, type: stored.type)
            return try .content(content, to: request, provenance: stored.provenance(result), now: clock.now())
        }
        // Offline an older version is better than none; its entity tag says which one it is.
        if result.provenance.offline, let kept = try await files.openKept(row.item, account: account.id) {
            var item = row.item
            item.modified = nil
            let content = kept.content(of: item, type: kept.type, version: kept.version)
            return try .content(content, to: request, provenance: kept.provenance(result), now: clock.now())
        }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        guard !result.provenance.offline else { throw client.unreachable }
        let item = try await items.presentVersion(of: row.item, result, for: account)
        return try await fetched(item, request, for: account)
    }

    private func fetched(_ item: DiskItem, _ request: ScreenRequest, for account: DiskAccount) async throws
        -> ScreenResponse
    {
        guard let size = item.size, let version = item.version else { throw client.sizeMissing }
        // Nothing is fetched for HEAD.
        let isStored = !request.isHead && !request.headerFields.contains(.range) && files.budget.admits(size)
        let unread = FileContent(
            type: item.servedType,
            length: size,
            version: version,
            lastModified: item.modified,
            fileName: item.name
        ) { _ in
            ByteStream(ByteBuffer())
        }
        let now = clock.now()
        let provenance = Provenance.fetched(at: now, stored: isStored)
        return try await .content(unread, to: request, provenance: provenance, now: now) { range in
            guard range.count == size else {
                return try await fetcher.part(range, of: item, for: account)
            }
            return try await fetcher.whole(of: item, size: size, for: account)
        }
    }
}
