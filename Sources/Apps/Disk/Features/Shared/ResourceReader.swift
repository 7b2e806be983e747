import Foundation
import HTTPTypes
import Screens
import Upstream

/// Reads resources of the API for an account, through the store.
struct ResourceReader: Sendable {
    let client: YandexDiskClient
    var tokens: TokenProvider
    let store: DiskStore
    let load: ForegroundLoad

    /// Reads a resource with the account's token, which is opened only if a request is sent.
    ///
    /// - Parameter path: The path that the resource is about; its row is removed if the API says that none exists.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`, `CancellationError`.
    func read(
        _ resource: Resource,
        of path: DiskPath? = nil,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy
    ) async throws -> ReadResult {
        var resource = resource
        // A read never joins a request that was sent before a write that it has to show.
        resource.generation = account.epoch
        let cachePolicy = cachePolicy == .useCache && store.hasMissed(account.id) ? .revalidate : cachePolicy
        resource.needsRevalidation = { [store] db in try store.isOvertaken(account.epoch, account: account.id, db) }
        do {
            return try await load.during { try await result(of: resource, for: account, cachePolicy) }
        } catch {
            if let path, DiskRefusal(error)?.isGone == true {
                try await store.forget(path, account: account.id, asOf: account.epoch)
            }
            if let expired = error as? TokenProvider.Expired, let failure = expired.failure { throw failure }
            throw client.translated(error, hasPath: path != nil)
        }
    }

    /// Reads a resource. While an expired token cannot be refreshed, the stored copy is returned as offline: the
    /// failure of OAuth says nothing about the copy.
    private func result(
        of resource: Resource,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy
    ) async throws -> ReadResult {
        do {
            return try await authorized(resource, account, cachePolicy, client.upstream.configuration.patience)
        } catch let expired as TokenProvider.Expired {
            if let stored = try client.upstream.unrequestedResult(of: resource) { return stored }
            if let failure = expired.failure { throw failure }
            return try await authorized(resource, account, cachePolicy, nil)
        }
    }

    private func authorized(
        _ resource: Resource,
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy,
        _ patience: Duration?
    ) async throws -> ReadResult {
        try await tokens.authorized(account, patience: patience) { [client, resource] token in
            try await client.upstream.read(resource, cachePolicy) { resource in
                resource.headerFields[.authorization] = YandexDiskClient.authorization(try await token())
            }
        }
    }

    /// Reads the account's space.
    ///
    /// - Throws: As ``read(_:of:for:_:)`` does.
    func info(_ account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> ReadResult {
        try await read(infoResource(account), for: account, cachePolicy)
    }

    /// Returns the read of the account's space if it is served without a request.
    ///
    /// - Parameter witness: Taken before the account was read, in the same transaction.
    /// - Throws: `StorageError`.
    func storedInfo(_ account: DiskAccount, _ cachePolicy: CachePolicy, since witness: ReadWitness) throws
        -> ReadResult?
    {
        try stored(infoResource(account), for: account, cachePolicy, since: witness)
    }

    /// Returns the read of a resource, without its response, if it is served without a request.
    ///
    /// - Parameter witness: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func stored(
        _ resource: Resource,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        since witness: ReadWitness
    ) throws -> ReadResult? {
        guard !store.hasMissed(account.id), let witness = client.upstream.witness(of: resource.url, since: witness)
        else { return nil }
        return try client.upstream.storedResult(of: resource, cachePolicy, since: witness)
    }

    private func infoResource(_ account: DiskAccount) -> Resource {
        client.info(account: account.id) { [store] record throws(UpstreamError) in
            guard record.user?.uid ?? account.id == account.id else {
                throw .badResponse(status: .ok, reason: "another account's data")
            }
            return store.persistRows(of: record.space, account: account)
        }
    }
}
