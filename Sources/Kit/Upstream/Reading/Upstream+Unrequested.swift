import Freshness
import HTTPCaching
import HTTPSemantics
import ResponseStore

extension Upstream {
    /// Returns the stored copy of a resource that cannot be requested for a reason that is not the upstream's, such as
    /// a credential that cannot be renewed: as while the upstream is unreachable.
    ///
    /// - Returns: Nil if nothing is stored.
    /// - Throws: `StorageError`.
    public func unrequestedResult(of resource: Resource) throws -> ReadResult? {
        let stored = try storedResponse(of: resource)
        guard let validatedAt = stored?.head.responseTime ?? resource.bundledAt else { return nil }
        if let stored { store.noteUse(of: stored.metadata) }
        let provenance = Provenance.stored(
            at: validatedAt,
            contentFetchedAt: stored?.contentTime,
            CacheStatus(.hit, detail: "offline"),
            offline: true,
            stale: true
        )
        return ReadResult(response: stored, provenance: provenance)
    }
}
