import Database
import Freshness
import GRDB
import HTTPCaching
import ResponseStore
import Upstream

extension MountStore {
    /// Updates stored responses with what a 304 or a HEAD says of them, and removes those that may not be kept any more
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
            let isOvertaken = forwarded.isOvertaken
            for update in updates {
                let old = candidates[update.index]
                let isInvalidated = isOvertaken || (old.isInvalidated && !confirms)
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
        try responses.freshen(
            id,
            headerFields: update.stored.headerFields,
            requestTime: update.stored.requestTime,
            responseTime: update.stored.responseTime,
            in: db
        )
        if isInvalidated { try responses.invalidate(id, in: db) }
    }
}
