import Foundation
import HTTPTypes
import Screens
import Upstream

/// Reads resources of the API for an account, through the store.
struct ResourceReader: Sendable {
    let client: YandexDiskClient
    var tokens: TokenProvider
    let store: DiskStore

    /// Reads a resource with the account's token, which is opened only if a request is sent.
    ///
    /// - Parameter path: The path that the resource is about; its row is removed if the API says that it is gone.
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
        resource.needsRevalidation = { [store] db in try store.isOvertaken(account.epoch, account: account.id, db) }
        do {
            return try await tokens.authorized(account.id) { [client, resource] token in
                try await client.upstream.read(resource, cachePolicy) { resource in
                    resource.headerFields[.authorization] = YandexDiskClient.authorization(try await token())
                }
            }
        } catch {
            if let path, DiskRefusal(error)?.isGone == true {
                try await store.forget(path, account: account.id, asOf: account.epoch)
            }
            throw client.translated(error)
        }
    }

    /// Reads the account's space.
    ///
    /// - Throws: As ``read(_:of:for:_:)`` does.
    func info(_ account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> ReadResult {
        let resource = client.info(account: account.id) { [store] record throws(UpstreamError) in
            guard record.user?.uid ?? account.id == account.id else {
                throw .badResponse(status: .ok, reason: "another account's data")
            }
            return store.persistRows(of: record.space, account: account.id)
        }
        return try await read(resource, for: account, cachePolicy)
    }
}
