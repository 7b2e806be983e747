import Database
import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import ResponseStore
import Upstream

/// The stored responses of one mount.
struct MountStore: Sendable {
    /// Name under which they are stored.
    let name: String
    /// Counts changes of what is stored under a URL.
    let changes = VersionCounters()
    /// The largest body that is stored, in bytes.
    let largestBody: Int
    /// Counts invalidations by writes, by URL.
    private let invalidations = VersionCounters()
    let store: UpstreamStore

    init(of upstream: Upstream) {
        name = "\(upstream.configuration.name).raw"
        store = upstream.store
        largestBody = min(upstream.configuration.mount.maximumStoredBytes, store.budget.lowWaterMark)
    }

    /// The store of large bodies.
    var blobs: BlobStore { store.database.blobs }

    /// Returns a token that holds until a write invalidates a URL.
    func uninvalidated(_ url: String) -> ChangeToken { ChangeToken(of: invalidations[url]) }

    /// Returns a token that no later removal passes unnoticed. To be taken before the store is read.
    func removalSnapshot() -> ChangeToken { store.removalSnapshot() }

    /// Returns a token that holds while a response is stored; nil if one was removed since `before`.
    func changeToken(of id: CachedResponse.ID, since before: ChangeToken) -> ChangeToken? {
        store.changeToken(of: id, since: before)
    }

    /// All that is stored for the target of a request and that its credential may see.
    ///
    /// - Throws: `StorageError`.
    func candidates(for request: ProxiedRequest) throws -> [CachedResponse] {
        // Responses from a time when the mount was shared belong to no credential: a mount that is not shared does not
        // use them.
        try store.responses.responses(upstream: name, method: .get, url: request.key, credential: request.credential)
            .filter { $0.credential == request.credential }
    }

    /// Opens the body of a stored response that is about to be served, and notes the use.
    ///
    /// - Returns: Nil if the body is lost, or bytes that the request asks for are not stored.
    func open(_ stored: CachedResponse, for request: ProxiedRequest) async throws -> MountBody? {
        store.noteUse(of: stored.metadata)
        guard let parts = stored.head.parts else {
            return try await store.responses.openBody(of: stored).map(MountBody.whole)
        }
        let wanted = stored.head.bytes(for: request, of: parts.completeLength)
        return try await store.responses.openParts(of: stored, wanted)
            .map { .parts($0, length: parts.completeLength) }
    }

    /// Removes what a response supersedes that is too large to be stored itself: the store would contradict the
    /// upstream.
    func removeSuperseded(by request: ProxiedRequest) async throws {
        let ids = try candidates(for: request).filter { $0.head.matches(request.cacheKeyRequest.headerFields) }
            .compactMap(\.id)
        guard !ids.isEmpty else { return }
        try await store.database.writeFreeingRoom { [responses = store.responses] db in
            for id in ids { try responses.remove(id, in: db) }
        }
    }

    /// Stores a response in place of all that the same request would have selected.
    func save(
        _ head: CachedResponseHead,
        _ body: StoredBody,
        for request: ProxiedRequest,
        from forwarded: ForwardedResponse
    ) async throws {
        let (name, responses, credential) = (name, store.responses, request.credential)
        let fields = request.cacheKeyRequest.headerFields
        defer { changes[head.url].bump() }
        try await store.database.write { db in
            let response = CachedResponse(
                upstream: name,
                credential: credential,
                head: head,
                body: body,
                isInvalidated: forwarded.isOvertaken
            )
            let others = try responses.responses(
                upstream: name,
                method: .get,
                url: head.url,
                credential: credential,
                in: db
            )
            for other in others where other.credential == credential && other.head.matches(fields) {
                if let id = other.id { try responses.remove(id, in: db) }
            }
            try responses.save(response, in: db)
        }
    }

    /// Invalidates stored responses of which the upstream has shown another version. They stay: each is the last good
    /// one.
    func invalidate(_ ids: [CachedResponse.ID], under key: String) async throws {
        defer { changes[key].bump() }
        try await store.database.writeFreeingRoom { [responses = store.responses] db in
            for id in ids { try responses.invalidate(id, in: db) }
        }
    }

    /// Invalidates everything that is stored under these URLs, or on its way there (RFC 9111 §4.4); not the response to
    /// the write itself, which may be stored (RFC 9110 §9.3.3).
    ///
    /// - Returns: The response, as one received after the invalidation.
    func invalidate(_ keys: [String], by forwarded: ForwardedResponse, to request: ProxiedRequest) async throws
        -> ForwardedResponse
    {
        defer { for key in keys { changes[key].bump() } }
        return try await store.database.writeFreeingRoom { [name, invalidations, responses = store.responses] db in
            let isOvertaken = forwarded.isOvertaken
            for key in keys {
                // Within the transaction: a request that stores after it sees the count, and what was stored before it
                // is invalidated.
                invalidations[key].bump()
                try responses.invalidate(upstream: name, url: key, in: db)
            }
            var own = forwarded
            if !isOvertaken { own.uninvalidated = ChangeToken(of: invalidations[request.key]) }
            return own
        }
    }
}
