import Foundation
import Freshness
import HTTPTypes
import Screens
import Upstream

/// Reads single files and folders.
struct ItemReader: Sendable {
    let reader: ResourceReader
    let events: DiskEvents
    let clock: WallClock

    private var client: YandexDiskClient { reader.client }
    private var store: DiskStore { reader.store }

    /// Reads a file or folder: from the API, or as a list has shown it before. A file that the API says is gone leaves
    /// all lists.
    ///
    /// - Throws: 404 `not-found`, other problems, `UpstreamFailure`, `StorageError`.
    func item(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy
    ) async throws -> (DiskRow, ReadResult) {
        var present = account
        var cachePolicy = cachePolicy
        for _ in 0..<Self.attempts {
            do {
                let seenAt = try store.row(path, account: account.id)?.seenAt
                let resource = resource(of: path, for: present, seenAt: seenAt)
                let result = try await reader.read(resource, of: path, for: present, cachePolicy)
                if let row = try store.row(path, account: account.id) { return (row, result) }
                if let absence = client.absence(result, at: clock.now()) { throw absence }
                if cachePolicy == .onlyIfCached { throw client.notStored }
                if result.provenance.isValidatedNow {
                    throw Problem.notFound("\(path.name) was deleted or moved while it was read.")
                }
                // The stored response is from before the removal: revalidate it.
                present = try store.account(account.id) ?? present
                cachePolicy = .revalidate
            } catch let failure as UpstreamFailure where failure.error == .notStored && cachePolicy != .onlyIfCached {
                guard let renewed = try store.account(account.id) else { throw Problem.loggedOut }
                present = renewed
                cachePolicy = .revalidate
            }
        }
        throw client.failure(Self.accountReplaced)
    }

    /// Reads something that must be a file.
    ///
    /// - Throws: 400 `invalid-parameter` for a folder; as ``item(_:for:_:)`` does.
    func file(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy
    ) async throws -> (DiskRow, ReadResult) {
        let (row, result) = try await item(path, for: account, cachePolicy)
        guard row.item.kind == .file else {
            throw Problem.invalidParameter("path", accepted: "accepts a file here, and this is a folder")
        }
        return (row, result)
    }

    /// How often a read starts again because the account was logged in again or a row was removed meanwhile.
    static let attempts = 4
    static let accountReplaced = UpstreamError.badResponse(
        status: nil,
        reason: "the account was logged in anew while it was read"
    )

    private func resource(of path: DiskPath, for account: DiskAccount, seenAt: Date?) -> Resource {
        let now = clock.now()
        var resource = client.item(path, account: account.id) { [store, events] record throws(UpstreamError) in
            guard let item = record.item, item.path == path else {
                throw .badResponse(status: .ok, reason: "another file than was asked for")
            }
            return store.persistRows(
                [item],
                as: nil,
                about: path,
                account: account.id,
                epoch: account.epoch,
                at: now
            ) {
                events.listsChanged($0, account: account.id)
            }
        }
        resource.bundledAt = seenAt
        resource.bundledSource = .upstream
        return resource
    }
}
