import Concurrency
import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Storage
import Upstream

/// The content of files.
struct Content: Sendable {
    let accounts: DiskAccounts
    let items: ProjectedItems
    let files: StoredFiles
    let fetcher: FileFetcher
    let clock: WallClock

    private var client: YandexDiskClient { fetcher.client }

    /// `GET /v1/disk/file/content`: the bytes, or a range of them. They come from the store if the present version is
    /// there, else from the API; the whole is stored while it passes.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let cachePolicy = try request.cachePolicy()
        let witness = client.upstream.witness()
        let (account, known) = try await accounts.account(of: session) {
            try stored(path, for: $0, cachePolicy, since: witness)
        }
        let (present, result, found) =
            if let known { known } else { try await read(path, for: account, cachePolicy) }
        if let stored = try await files.open(found, of: present, account: account.id) {
            let content = stored.content(of: present, type: DiskItem.shownType(stored.type))
            return try .content(content, to: request, provenance: stored.provenance(result), now: clock.now())
        }
        // Offline an older version is better than none; its entity tag says which one it is.
        if result.provenance.offline, let kept = found.kept,
            let kept = try await files.open(kept, of: present, account: account.id)
        {
            var item = present
            item.modified = nil
            let content = kept.content(of: item, type: DiskItem.shownType(kept.type), version: kept.version)
            return try .content(content, to: request, provenance: kept.provenance(result), now: clock.now())
        }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        guard !result.provenance.offline else { throw client.unreachable }
        let item = try await items.presentVersion(of: present, result, for: account)
        return try await fetched(item, request, for: account)
    }

    private typealias Known = (DiskItem, ReadResult, StoredFiles.Found)

    /// Finds the file and its content in one transaction; nil if the API may have to be requested.
    private func stored(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        since witness: ReadWitness
    ) throws -> Known? {
        guard let (item, result) = try items.storedFile(path, for: account, cachePolicy, since: witness) else {
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
        guard let size = item.size, let version = item.version else { throw client.sizeMissing }
        // Nothing is fetched for HEAD.
        let isStored = !request.isHead && !request.headerFields.contains(.range) && files.budget.admits(size)
        let unread = FileContent(
            type: DiskItem.shownType(item.servedType),
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
