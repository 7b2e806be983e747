import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import NIOCore
import Storage

/// The stored responses of one mount.
struct MountStore: Sendable {
    /// Name under which they are stored.
    let name: String
    /// Counts changes of the responses under a URL.
    let changes = VersionCounters()
    /// The largest body that is stored, in bytes.
    let largestBody: Int
    /// Seals JSON; nil if it is stored in clear text.
    private let links: MountLinks?
    /// Counts invalidations by writes, by URL.
    private let invalidations = VersionCounters()
    let store: UpstreamStore

    init(of upstream: Upstream, _ links: MountLinks?) {
        self.links = links
        name = "\(upstream.configuration.name).raw"
        store = upstream.store
        largestBody = min(upstream.configuration.mount.maximumStoredBytes, store.budget.lowWaterMark)
    }

    /// The store of large bodies.
    var blobs: BlobStore { store.database.blobs }

    /// Returns a token that holds until a write invalidates a URL.
    func uninvalidated(_ url: String) -> ChangeToken { ChangeToken(of: invalidations[url]) }

    /// All that is stored for the target of a request and that its credential may see.
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
            let body = try await store.responses.openBody(of: stored)
            guard let links, !request.isLink, case .bytes(let sealed) = body else { return body.map(MountBody.whole) }
            return links.open(sealed, of: stored.head.url).map { .whole(.bytes($0)) }
        }
        let wanted = stored.head.bytes(for: request, of: parts.completeLength)
        return try await store.responses.openParts(of: stored, wanted)
            .map { .parts($0, length: parts.completeLength) }
    }

    /// Removes stored responses that are superseded by one that is too large to be stored: the store would contradict
    /// the upstream.
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
        var body = body
        if let links, !request.isLink, case .bytes(let bytes) = body {
            body = .bytes(try links.seal(bytes, of: head.url))
        }
        defer { changes[head.url].bump() }
        try await store.database.write { [body, responses = store.responses] db in
            guard try request.isLoggedIn?(db) ?? true else { return }
            let response = CachedResponse(
                upstream: name,
                credential: request.credential,
                head: head,
                body: body,
                isInvalidated: forwarded.isSuperseded
            )
            for id in try selectable(for: request, at: head.url, in: db).compactMap(\.id) {
                try responses.remove(id, in: db)
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
            let isSuperseded = forwarded.isSuperseded
            for key in keys {
                // Within the transaction: a request that stores after it sees the count, and a response that was stored
                // before it is invalidated.
                invalidations[key].bump()
                try responses.invalidate(upstream: name, url: key, in: db)
            }
            var own = forwarded
            if !isSuperseded { own.uninvalidated = ChangeToken(of: invalidations[request.key]) }
            return own
        }
    }
}

extension MountStore {
    /// Updates stored responses by a 304 or a HEAD, and removes those that may not be kept any more
    /// (RFC 9111 §4.3.4, §4.3.5). On a full disk nothing is updated: the next request asks again.
    ///
    /// - Parameter confirms: Whether the response validates an invalidated one. A 304 does; a HEAD need not tell one
    ///   version from another.
    func update(
        _ updates: [FreshenedResponse],
        of candidates: [CachedResponse],
        from forwarded: ForwardedResponse,
        confirms: Bool
    ) async throws {
        defer { for update in updates { changes[update.stored.url].bump() } }
        let record: @Sendable (Database) throws -> Void = { [responses = store.responses] db in
            let isSuperseded = forwarded.isSuperseded
            for update in updates {
                let old = candidates[update.index]
                let isInvalidated = isSuperseded || (old.isInvalidated && !confirms)
                try Self.apply(update, to: old, isInvalidated: isInvalidated, responses, in: db)
            }
        }
        if updates.allSatisfy(\.mayBeKept) {
            try await store.database.writeIfRoom(record)
        } else {
            try await store.database.writeFreeingRoom(record)
        }
    }

    private static func apply(
        _ update: FreshenedResponse,
        to old: CachedResponse,
        isInvalidated: Bool,
        _ responses: ResponseStore,
        in db: Database
    ) throws {
        guard let id = old.id else { return }
        guard update.mayBeKept, update.stored.varyingFields == old.head.varyingFields else {
            // Another `Vary` is another place in the store, and a file cannot be in two: it is fetched again next time.
            try responses.remove(id, in: db)
            guard update.mayBeKept, old.head.parts == nil, case .bytes = old.body else { return }
            let moved = CachedResponse(
                upstream: old.upstream,
                credential: old.credential,
                head: update.stored,
                body: old.body,
                isInvalidated: isInvalidated
            )
            try responses.save(moved, in: db)
            return
        }
        try responses.freshen(id, by: update.stored, in: db)
        if isInvalidated { try responses.invalidate(id, in: db) }
    }

    /// Opens the stored pieces of a range; nil if bytes of it are not stored.
    func openParts(of stored: CachedResponse, _ range: Range<Int>) async throws -> [PartReader]? {
        store.noteUse(of: stored.metadata)
        return try await store.responses.openParts(of: stored, range)
    }

    /// Stores a part of a representation at the place that the rules give it. Does nothing if a write has overtaken it.
    ///
    /// - Parameter head: The head of the part, whose own range may be longer than the bytes that have arrived.
    func savePart(
        _ head: CachedResponseHead,
        _ range: Range<Int>,
        _ body: StoredBody,
        for request: ProxiedRequest,
        from forwarded: ForwardedResponse,
        by rules: CachingRules
    ) async throws {
        var part = head
        part.parts = head.parts.map { StoredParts(of: $0.completeLength, [range]) }
        defer { changes[head.url].bump() }
        try await store.database.write { [part, responses = store.responses] db in
            guard !forwarded.isSuperseded, try request.isLoggedIn?(db) ?? true else { return }
            let stored = try selectable(for: request, at: head.url, in: db)
            switch rules.placement(of: part, among: stored.map(\.head)) {
            case .discarded: break
            case .beside(let index, let head):
                guard let id = stored[index].id else { return }
                try responses.freshen(id, by: head, in: db)
                try responses.addPart(range, body, to: id, in: db)
            case .anew(let replaced):
                for id in replaced.compactMap({ stored[$0].id }) { try responses.remove(id, in: db) }
                let empty = CachedResponse(
                    upstream: name,
                    credential: request.credential,
                    head: part,
                    body: .bytes(Data())
                )
                try responses.addPart(range, body, to: responses.save(empty, in: db), in: db)
            }
        }
    }

    /// The stored responses that a request selects from.
    private func selectable(for request: ProxiedRequest, at url: String, in db: Database) throws -> [CachedResponse] {
        try store.responses.responses(upstream: name, method: .get, url: url, credential: request.credential, in: db)
            .filter { $0.credential == request.credential && $0.head.matches(request.cacheKeyRequest.headerFields) }
    }
}

/// The state that a response depends on, taken before the store is read.
struct StoreSnapshot: Sendable {
    private let seen: ChangeToken
    private let unremoved: ChangeToken
    /// When it was taken: the time at which the stored responses are assessed.
    let now: Date
    private let instant: NIODeadline

    /// Takes a snapshot. To be taken before the store is read.
    init(of mount: Mount, for request: ProxiedRequest) {
        (now, instant) = (mount.upstream.clock.now(), NIODeadline.now())
        seen = ChangeToken(of: mount.upstream.client.reachabilityVersion, mount.store.changes[request.key])
        unremoved = mount.upstream.store.removalSnapshot()
    }

    /// Returns a token that holds while the same request would get the same response. It holds until the response is
    /// stale, something is stored or removed under its URL, or the upstream's reachability changes.
    ///
    /// - Parameter reuse: How the response was assessed at ``now``.
    /// - Returns: Nil if the next response may differ: a stale one is validated, or directives of the request ask for
    ///   more than freshness (RFC 9111 §5.2.1). Nil also for an account's own token, which is looked up for each
    ///   request.
    func changeToken(of reuse: Reuse, _ stored: CachedResponse, _ request: ProxiedRequest, in mount: Mount)
        -> ChangeToken?
    {
        let freshness = reuse.freshness
        guard let id = stored.id, reuse.revalidation == nil, freshness.isFresh, request.directives == .none,
            !request.isOnBehalf, let kept = mount.upstream.store.changeToken(of: id, since: unremoved)
        else { return nil }
        return seen.and(kept).ending(
            // Within the range of the unit, as for screens.
            at: instant + .nanoseconds(Int64(min(max(0, -freshness.staleness), 1e9) * 1e9)),
            age: RunningAge(seconds: reuse.exactAge, timeToLive: freshness.timeToLive, at: instant)
        )
    }
}
