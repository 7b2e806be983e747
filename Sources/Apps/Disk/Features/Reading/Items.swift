import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import Screens
import Storage
import Upstream

// Single files and folders as the API has them.
extension Disk {
    /// Reads something that must be a file.
    ///
    /// - Throws: 400 `invalid-parameter` for a folder; as ``item(_:for:_:waitsToTimeout:seenAt:)`` does.
    func file(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        waitsToTimeout: Bool = false
    ) async throws -> (DiskRow, ReadResult) {
        let read = try await item(path, for: account, cachePolicy, waitsToTimeout: waitsToTimeout)
        try read.0.item.checkIsFile()
        return read
    }

    /// Reads a file or folder from the API, or from the row that a list has stored before. A file that no longer exists
    /// at the API is removed from all lists.
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
        seenAt: Date? = nil
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
                let result = try await read(resource, of: path, for: present, cachePolicy)
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
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func stored(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since readToken: ReadToken)
        throws -> (DiskRow, ReadResult)?
    {
        guard let row = try store.row(path, account: account.id) else { return nil }
        return try result(of: path, row.seenAt, for: account, cachePolicy, since: readToken).map {
            (row, $0.received(row.changedAt))
        }
    }

    /// Returns an item that must be a file in the same way, without its stored content.
    ///
    /// - Throws: 400 `invalid-parameter` for a folder; `StorageError`.
    func storedFile(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since readToken: ReadToken)
        throws -> (DiskItem, ReadResult)?
    {
        guard let stored = try store.item(path, account: account.id),
            let result = try result(of: path, stored.seenAt, for: account, cachePolicy, since: readToken)
        else { return nil }
        try stored.item.checkIsFile()
        return (stored.item, result.received(stored.changedAt))
    }

    private func result(
        of path: DiskPath,
        _ seenAt: Date,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        since readToken: ReadToken
    ) throws -> ReadResult? {
        try self.stored(resource(of: path, for: account, seenAt: seenAt), for: account, cachePolicy, since: readToken)
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

extension DiskItem {
    func checkIsFile() throws {
        guard kind == .file else {
            throw Problem.invalidParameter("path", accepted: "accepts a file here, and this is a folder")
        }
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

/// Reads single files and folders in their state after the pending writes.
struct PendingItems: Sendable {
    let disk: Disk

    private var store: DiskStore { disk.store }

    private enum Location {
        /// At this path of the API; the row of that path is shown changed by the writes that wait.
        case upstream(DiskPath, shown: (DiskRow) -> DiskRow, unsettledMoves: [DiskPath])
        /// A write has made it here.
        case made(DiskRow, ReadResult)
    }

    /// - Throws: 404 `not-found` if it will be deleted or moved away.
    private func location(of path: DiskPath, account: String) throws -> Location {
        guard let (view, queue) = store.pendingView(of: account) else {
            return .upstream(path, shown: { $0 }, unsettledMoves: [])
        }
        switch view.tree.item(at: path) {
        case .nothing: throw Problem.notFound("A write that waits in the outbox leaves nothing at \(path.name).")
        case .made(let item, let node): return .made(view.row(of: item, node, queue), .made(at: item.created))
        case .upstream(let source, _):
            return .upstream(
                source,
                shown: { view.row($0, at: path, queue) },
                unsettledMoves: source == path ? [] : queue.unsettledMoves
            )
        }
    }

    /// Reads a file or folder.
    ///
    /// - Throws: 404 `not-found` if it will be deleted or moved away; as `Disk` does.
    func item(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> (
        DiskRow, ReadResult
    ) {
        switch try location(of: path, account: account.id) {
        case .made(let row, let result): return (row, result)
        case .upstream(let source, let shown, let moves):
            let (row, result): (DiskRow, ReadResult)
            do {
                (row, result) = try await disk.item(source, for: account, cachePolicy)
            } catch let problem as Problem
                where problem.code == .notFound && moves.contains(where: { $0.covers(source) })
            {
                // The API may have moved it already.
                (row, result) = try await disk.item(path, for: account, cachePolicy)
            }
            return (shown(row), result)
        }
    }

    /// Reads something that must be a file.
    func file(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> (
        DiskRow, ReadResult
    ) {
        let read = try await item(path, for: account, cachePolicy)
        try read.0.item.checkIsFile()
        return read
    }

    /// Returns a file or folder if it is served without a request.
    func stored(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since token: ReadToken) throws
        -> (DiskRow, ReadResult)?
    {
        switch try location(of: path, account: account.id) {
        case .made(let row, let result): return (row, result)
        case .upstream(let source, let shown, _):
            return try disk.stored(source, for: account, cachePolicy, since: token).map { (shown($0), $1) }
        }
    }

    /// Returns an item that must be a file in the same way, without its stored content.
    func storedFile(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since token: ReadToken)
        throws -> (DiskItem, ReadResult)?
    {
        switch try location(of: path, account: account.id) {
        case .made(let row, let result):
            try row.item.checkIsFile()
            return (row.item, result)
        case .upstream(let source, let shown, _):
            let stored = try disk.storedFile(source, for: account, cachePolicy, since: token)
            return stored.map { (shown(DiskRow($0)).item, $1) }
        }
    }

    func known(_ path: DiskPath, account: String) throws -> DiskItem? {
        switch try location(of: path, account: account) {
        case .made(let row, _): row.item
        case .upstream(let source, let shown, _):
            try store.item(source, account: account).map { shown(DiskRow($0.item)).item }
        }
    }

    /// Returns the present version of a file whose content is to be fetched: see `Disk`.
    func presentVersion(of item: DiskItem, _ result: ReadResult, for account: DiskAccount) async throws -> DiskItem {
        guard item.queuedUpload == nil else { return item }
        var stored = item
        stored.path = item.storedPath
        var present = try await disk.presentVersion(of: stored, result, for: account)
        guard item.source != nil else { return present }
        present.source = item.storedPath
        return present.at(item.path)
    }
}

extension ReadResult {
    /// Returns the read of something that a write has made here.
    static func made(at time: Date?) -> ReadResult {
        let provenance = Provenance(source: .local, validatedAt: time, cacheStatus: CacheStatus(.hit))
        return ReadResult(response: nil, provenance: provenance, changeToken: nil)
    }
}

// Files and folders that other clients have renamed or moved. The API gives them by their path only, so they are looked
// for by their identifier (`resource_id`).
extension Disk {
    /// Rows of the folder that are looked through.
    private static let siblings = PageRequest(limit: 1000, offset: 0)

    /// Returns the present item with an identifier that is no longer at its path. It is looked for where a list has
    /// shown it, and in the same folder under another name.
    ///
    /// - Returns: Nil if it is at neither place.
    /// - Throws: `UpstreamError`, `UpstreamFailure`, `StorageError`.
    func moved(_ resourceID: String?, from path: DiskPath, _ account: DiskAccount) async throws -> DiskItem? {
        guard let resourceID, let folder = path.parent else { return nil }
        for shown in try store.paths(of: resourceID, account: account.id) where shown != path {
            if let item = try await present(shown, account), item.resourceID == resourceID { return item }
        }
        do {
            let record = try await tokens.authorized(account) {
                try await client.content(of: folder, Self.siblings, $0)
            }
            return record.embedded?.rows.items.first { $0.resourceID == resourceID && $0.path != path }
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        }
    }

    /// Removes an item that the API says is not there. If it is kept offline and others have moved it, it is kept at
    /// its new path.
    ///
    /// - Throws: `StorageError`; `ClusterError` if the mark cannot follow.
    func forget(_ path: DiskPath, for account: DiskAccount) async throws {
        // A young path may not be shown yet: it is not missing.
        if try store.mark(path, account: account.id) != nil, try !store.isYoung(path, account: account.id) {
            let known = try store.item(path, account: account.id)?.item.resourceID
            do {
                if let item = try await moved(known, from: path, account) {
                    let change = DiskChange.moved(from: path, to: item.path)
                    // Another reader may have been here first.
                    try await store.apply(change, account: account.id, at: clock.now(), ifMarked: path)
                    return
                }
            } catch let error where !(error is StorageError || error is ClusterError) {
                // Whether it was moved is not known: the mark stays, and the next read asks again.
                logger.info("a missing file could not be looked for", metadata: ["error": "\(error)"])
                return
            }
        }
        try await store.forget(path, account: account.id, asOf: account.epoch)
    }
}
