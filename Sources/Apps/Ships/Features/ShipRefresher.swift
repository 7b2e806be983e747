import Screens
import Upstream

/// Brings the stored ships up to date. Every screen that shows ships calls it first.
struct ShipRefresher: Sendable {
    let api: SpaceXAPI
    let store: ShipStore
    let snapshot: ShipSnapshot
    let deletions: Deletions
    let events: ShipListEvents

    /// Reads the list of ships from the API and merges it into the store; if that fails, the stored ships are left as
    /// they are, and on a first start the bundled snapshot is imported.
    ///
    /// - Returns: Where the ships come from, for the screens that show them.
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `CancellationError`.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        // Known ships do not all vanish at once. If the store cannot be read, nothing in it is changed.
        let acceptsEmpty = { @Sendable in (try? store.hasListedShips()) == false }
        let result = try await api.readShips(
            cachePolicy,
            bundledAt: snapshot.recordedAt,
            acceptsEmpty: acceptsEmpty
        ) { records in
            store.persistRows(of: records.ships) { events.publishChange(revision: $0) }
        }
        if result.response == nil { try await store.importSnapshot(snapshot.records.ships) }
        try await deletions.listWasRefreshed(result)
        return result
    }
}
