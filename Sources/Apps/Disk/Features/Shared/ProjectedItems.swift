import Concurrency
import Foundation
import HTTP
import Screens
import Upstream

/// Reads single files and folders as they will be, once the writes that wait are done. Without such writes it reads as
/// ``ItemReader`` does.
struct ProjectedItems: ItemReading {
    let items: ItemReader

    private var store: DiskStore { items.reader.store }

    /// Reads a file or folder.
    ///
    /// - Throws: 404 `not-found` if it will be deleted or moved away; as ``ItemReader`` does.
    func item(
        _ path: DiskPath,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        waitsToTimeout: Bool = false
    ) async throws -> (DiskRow, ReadResult) {
        guard let (outlook, queue) = store.outlook(of: account.id) else {
            return try await items.item(path, for: account, cachePolicy, waitsToTimeout: waitsToTimeout)
        }
        switch outlook.projection.place(path) {
        case .nothing: throw Self.gone(path)
        case .made(let item, let node): return (outlook.row(of: item, node, queue), .made(at: item.created))
        case .upstream(let source, _):
            let (row, result): (DiskRow, ReadResult)
            do {
                (row, result) = try await items.item(source, for: account, cachePolicy, waitsToTimeout: waitsToTimeout)
            } catch let problem as Problem
                where problem.code == .notFound && source != path
                && queue.unsettledMoves.contains(where: { $0.covers(source) })
            {
                // The API may have moved it already.
                (row, result) = try await items.item(path, for: account, cachePolicy, waitsToTimeout: waitsToTimeout)
            }
            return (outlook.row(row, at: path, queue), result)
        }
    }

    /// Returns a file or folder if it is served without a request.
    ///
    /// - Throws: 404 `not-found`, `StorageError`.
    func stored(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since witness: ReadWitness)
        throws -> (DiskRow, ReadResult)?
    {
        guard let (outlook, queue) = store.outlook(of: account.id) else {
            return try items.stored(path, for: account, cachePolicy, since: witness)
        }
        switch outlook.projection.place(path) {
        case .nothing: throw Self.gone(path)
        case .made(let item, let node): return (outlook.row(of: item, node, queue), .made(at: item.created))
        case .upstream(let source, _):
            return try items.stored(source, for: account, cachePolicy, since: witness).map {
                (outlook.row($0, at: path, queue), $1)
            }
        }
    }

    /// Returns an item that must be a file in the same way, without its stored content.
    ///
    /// - Throws: 400 `invalid-parameter` for a folder; 404 `not-found`, `StorageError`.
    func storedFile(_ path: DiskPath, for account: DiskAccount, _ cachePolicy: CachePolicy, since witness: ReadWitness)
        throws -> (DiskItem, ReadResult)?
    {
        guard let (outlook, queue) = store.outlook(of: account.id) else {
            return try items.storedFile(path, for: account, cachePolicy, since: witness)
        }
        switch outlook.projection.place(path) {
        case .nothing: throw Self.gone(path)
        case .made(let item, let node):
            try ItemReader.checkIsFile(item)
            return (outlook.row(of: item, node, queue).item, .made(at: item.created))
        case .upstream(let source, _):
            return try items.storedFile(source, for: account, cachePolicy, since: witness).map { item, result in
                let row = DiskRow(item: item, seenAt: .distantPast, isDownloaded: false)
                return (outlook.row(row, at: path, queue).item, result)
            }
        }
    }

    /// Returns a known item, whatever its age; nil if it is not known.
    ///
    /// - Throws: 404 `not-found`, `StorageError`.
    func known(_ path: DiskPath, account: String) throws -> DiskItem? {
        guard let (outlook, queue) = store.outlook(of: account) else {
            return try store.item(path, account: account)?.item
        }
        switch outlook.projection.place(path) {
        case .nothing: throw Self.gone(path)
        case .made(let item, let node): return outlook.row(of: item, node, queue).item
        case .upstream(let source, _):
            guard let row = try store.row(source, account: account) else { return nil }
            return outlook.row(row, at: path, queue).item
        }
    }

    /// Returns the present version of a file whose content is to be fetched: see ``ItemReader``.
    ///
    /// - Throws: As ``ItemReader`` does.
    func presentVersion(of item: DiskItem, _ result: ReadResult, for account: DiskAccount) async throws -> DiskItem {
        guard item.queuedUpload == nil else { return item }
        var stored = item
        stored.path = item.storedPath
        var present = try await items.presentVersion(of: stored, result, for: account)
        guard item.source != nil else { return present }
        present.source = item.storedPath
        return present.at(item.path)
    }

    private static func gone(_ path: DiskPath) -> Problem {
        .notFound("A write that waits in the outbox leaves nothing at \(path.name).")
    }
}

extension ReadResult {
    /// Returns the read of something that a write has made here.
    static func made(at time: Date?) -> ReadResult {
        let provenance = Provenance(source: .local, validatedAt: time, cacheStatus: CacheStatus(.hit))
        return ReadResult(response: nil, provenance: provenance, changeToken: nil)
    }
}
