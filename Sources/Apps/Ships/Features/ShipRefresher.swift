import Database
import GRDB
import Screens
import Upstream

/// Brings the stored ships up to date. Every screen that shows ships calls it first.
struct ShipRefresher: Sendable {
    let api: SpaceXAPI
    let store: ShipStore
    let snapshot: ShipSnapshot
    let deletions: Deletions
    let events: ShipListEvents

    /// Brings the stored ships up to date and reads some of them, in one transaction with what is known of their age if
    /// the API need not be asked.
    ///
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `CancellationError`; what `rows`
    ///   throws.
    func refresh<Rows>(_ cachePolicy: CachePolicy, reading rows: (Database) throws -> Rows) async throws
        -> (ReadResult, Rows)
    {
        let witness = api.witness()
        let stored = try store.database.read { db -> (ReadResult, Rows)? in
            guard let result = try api.storedResult(cachePolicy, since: witness, in: db),
                !deletions.mustRestore(after: result)
            else { return nil }
            return (result, try rows(db))
        }
        if let stored { return stored }
        let result = try await refresh(cachePolicy)
        return (result, try store.database.read(rows))
    }

    /// Reads the list of ships from the API and merges it into the store; if that fails, the stored ships are left as
    /// they are, and on a first start the bundled snapshot is imported.
    ///
    /// - Returns: The provenance of the ships, for the screens that show them.
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
