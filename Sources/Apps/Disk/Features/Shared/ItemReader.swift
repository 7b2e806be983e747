import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// Reads single files and folders.
protocol ItemReading: Sendable {
    /// Reads a file or folder.
    ///
    /// - Throws: 404 `not-found`, other problems, `UpstreamFailure`, `StorageError`.
    func item(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, waitsToTimeout: Bool) async throws
        -> (DiskRow, ReadResult)
}

extension ItemReading {
    /// Reads something that must be a file.
    ///
    /// - Parameter waitsToTimeout: Whether the API's response is waited for whatever the patience.
    /// - Throws: 400 `invalid-parameter` for a folder; as ``item(_:for:_:waitsToTimeout:)`` does.
    func file(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        waitsToTimeout: Bool = false
    ) async throws -> (DiskRow, ReadResult) {
        let read = try await item(path, for: account, cachePolicy, waitsToTimeout: waitsToTimeout)
        try ItemReader.checkIsFile(read.0.item)
        return read
    }
}

/// Reads single files and folders as the API has them.
struct ItemReader: ItemReading {
    var reader: ResourceReader
    let clock: WallClock

    private var client: YandexDiskClient { reader.client }
    private var store: DiskStore { reader.store }

    func item(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        waitsToTimeout: Bool = false
    ) async throws -> (DiskRow, ReadResult) {
        try await item(path, for: account, cachePolicy, waitsToTimeout: waitsToTimeout, seenAt: nil)
    }

    /// Reads a file or folder: from the API, or as a list has shown it before. A file that the API says is gone leaves
    /// all lists.
    ///
    /// - Parameters:
    ///   - waitsToTimeout: Whether the API's response is waited for whatever the patience.
    ///   - seenAt: When the stored row was last seen, if the caller has just stored it.
    /// - Throws: 404 `not-found`, other problems, `UpstreamFailure`, `StorageError`.
    func item(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        waitsToTimeout: Bool = false,
        seenAt: Date?
    ) async throws -> (DiskRow, ReadResult) {
        var present = account
        var known = seenAt
        var cachePolicy = cachePolicy
        for _ in 0..<Self.attempts {
            do {
                let seenAt = try known ?? store.row(path, account: account.id)?.seenAt
                known = nil
                var resource = resource(of: path, for: present, seenAt: seenAt)
                resource.waitsToTimeout = waitsToTimeout
                let result = try await reader.read(resource, of: path, for: present, cachePolicy)
                if let row = try store.row(path, account: account.id) { return (row, result.received(row.changedAt)) }
                if let absence = client.absence(result, at: clock.now()) { throw absence }
                if cachePolicy == .onlyIfCached { throw client.notStored }
                if result.provenance.isValidatedNow {
                    throw Problem.notFound("\(path.name) was deleted or moved while it was read.")
                }
                // The stored response is from before the removal: revalidate it.
                present = try store.renewed(account) ?? present
                cachePolicy = .revalidate
            } catch let failure as UpstreamFailure where failure.error == .notStored && cachePolicy != .onlyIfCached {
                guard let renewed = try store.renewed(account) else { throw Problem.loggedOut }
                present = renewed
                cachePolicy = .revalidate
            }
        }
        throw client.failure(Self.accountReplaced)
    }

    /// Returns a file or folder with the read of its metadata if it is served without a request.
    ///
    /// - Parameter witness: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func stored(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since witness: ReadWitness)
        throws -> (DiskRow, ReadResult)?
    {
        guard let row = try store.row(path, account: account.id) else { return nil }
        return try result(of: path, row.seenAt, for: account, cachePolicy, since: witness).map {
            (row, $0.received(row.changedAt))
        }
    }

    /// Returns an item that must be a file in the same way, without its stored content.
    ///
    /// - Throws: 400 `invalid-parameter` for a folder; `StorageError`.
    func storedFile(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since witness: ReadWitness)
        throws -> (DiskItem, ReadResult)?
    {
        guard let stored = try store.item(path, account: account.id),
            let result = try result(of: path, stored.seenAt, for: account, cachePolicy, since: witness)
        else { return nil }
        try Self.checkIsFile(stored.item)
        return (stored.item, result.received(stored.changedAt))
    }

    private func result(
        of path: DiskPath,
        _ seenAt: Date,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        since witness: ReadWitness
    ) throws -> ReadResult? {
        try reader.stored(resource(of: path, for: account, seenAt: seenAt), for: account, cachePolicy, since: witness)
    }

    static func checkIsFile(_ item: DiskItem) throws {
        guard item.kind == .file else {
            throw Problem.invalidParameter("path", accepted: "accepts a file here, and this is a folder")
        }
    }

    /// Returns the present version of a file whose content is to be fetched: the fetched bytes would not match a
    /// response head made for an outdated version.
    ///
    /// - Parameter result: The read of the known version.
    /// - Throws: The failure of the API if it does not return the present version; `Problem`, `StorageError`.
    func presentVersion(of item: DiskItem, _ result: ReadResult, for account: DiskAccount) async throws -> DiskItem {
        // A young file has no other version, and its bytes may be there already.
        guard result.provenance.stale, try !store.isYoung(item.path, account: account.id) else { return item }
        let (row, present) = try await file(item.path, for: account, .revalidate, waitsToTimeout: true)
        if let absence = client.absence(present, at: clock.now()) { throw absence }
        return row.item
    }

    /// How often a read starts again because the account was logged in again or a row was removed meanwhile.
    static let attempts = 4
    static let accountReplaced = UpstreamError.badResponse(
        status: nil,
        reason: "the account was logged in again while it was read"
    )

    private func resource(of path: DiskPath, for account: DiskAccount, seenAt: Date?) -> Resource {
        let now = clock.now()
        let isPresent = seenAt != nil && store.changeLogs.young(of: account.id, at: now)?.covers(path) == true
        var resource = client.item(path, account: account.id, isPresent: isPresent) {
            [store] record throws(UpstreamError) in
            guard let item = record.item, item.path == path else {
                throw .badResponse(status: .ok, reason: "another file than was asked for")
            }
            let request = RowsRequest(account: account.id, epoch: account.epoch, time: now)
            return store.persistRows(FetchedRows(rows: [.item(item)], subject: path), request)
        }
        resource.bundledAt = seenAt
        resource.bundledSource = .upstream
        return resource
    }
}

extension ReadResult {
    /// Returns the result for a row, whose content was received at `changedAt` with this response or another one.
    func received(_ changedAt: Date) -> ReadResult {
        var result = self
        result.provenance.contentFetchedAt = changedAt
        return result
    }
}
