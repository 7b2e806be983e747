import Foundation
import Freshness
import ResponseStore
import Screens
import Upstream

/// Reads pages of lists.
struct PageReader: Sendable {
    let reader: ResourceReader
    let accessRecorder: AccessRecorder
    let clock: WallClock

    private var client: YandexDiskClient { reader.client }
    private var store: DiskStore { reader.store }

    /// Reads a page from the API, or as it is stored if the API need not or cannot be asked.
    ///
    /// Changes made during the request are in it
    /// (``DiskStore/persistRows(_:beside:as:folder:about:total:hasMore:account:epoch:at:changed:)``). The API is asked
    /// again only if the account was logged in again, or if a page is missing that a stored response belongs to. A page
    /// that was evicted, or that has moved with its folder, is as old as its own date says.
    ///
    /// - Parameters:
    ///   - folder: The folder whose content the page shows, if it is one.
    ///   - resource: Describes the request in an epoch of the account.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`, `CancellationError`.
    func page(
        _ key: PageKey,
        of folder: DiskPath? = nil,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        _ resource: (_ epoch: Int64) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        var cachePolicy = cachePolicy
        var present = account
        for _ in 0..<ItemReader.attempts {
            var resource = resource(present.epoch)
            resource.bundledAt = try store.pageDate(key)
            resource.bundledSource = .upstream
            let result: ReadResult
            do {
                result = try await reader.read(resource, of: folder, for: present, cachePolicy)
            } catch let failure as UpstreamFailure where failure.error == .notStored && cachePolicy != .onlyIfCached {
                guard let renewed = try store.account(account.id) else { throw Problem.loggedOut }
                present = renewed
                cachePolicy = .revalidate
                continue
            }
            if let page = try store.page(key, account: account.id) {
                accessRecorder.note(key, at: clock.now())
                return (page, result)
            }
            try explainAbsence(of: folder, account, cachePolicy, result)
            present = try store.account(account.id) ?? present
            cachePolicy = .revalidate
        }
        throw client.failure(ItemReader.accountReplaced)
    }

    /// Explains why a page is missing after a read; returns if another request may help.
    ///
    /// - Throws: 409 `not-a-folder`, 404 `not-found`, `UpstreamFailure`, `StorageError`.
    private func explainAbsence(
        of folder: DiskPath?,
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy,
        _ result: ReadResult
    ) throws {
        if let folder, try store.row(folder, account: account.id)?.item.kind == .file {
            throw Problem(.notAFolder, "\(folder.name) is a file; its screen is \(folder.link(to: "/v1/disk/file")).")
        }
        if cachePolicy == .onlyIfCached { throw client.notStored }
        if let absence = client.absence(result, at: clock.now()) { throw absence }
        if let folder, result.provenance.isValidatedNow {
            throw Problem.notFound("\(folder.name) was deleted or moved while it was read.")
        }
    }
}
