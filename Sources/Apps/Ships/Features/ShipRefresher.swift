import Database
import Screens
import Upstream

/// Brings the stored ships up to date. Every screen that shows ships calls it first.
struct ShipRefresher: Sendable {
    let api: SpaceXAPI
    let ships: any ShipLists
    /// Where the API's responses are.
    let database: LarderDatabase
    let snapshot: ShipSnapshot
    let deletions: Deletions
    let events: ShipListEvents

    /// Brings the stored ships up to date and reads some of them, in one transaction with what is known of their age if
    /// the API need not be asked.
    ///
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `CancellationError`; what the reading
    ///   throws.
    func refresh<Rows>(_ cachePolicy: CachePolicy, reading: ShipReading<Rows>) async throws -> (ReadResult, Rows) {
        let witness = api.witness()
        switch reading {
        case .local(_, let rows):
            let stored = try database.read { db -> (ReadResult, Rows)? in
                guard let result = try api.storedResult(cachePolicy, since: witness, in: db),
                    !deletions.mustRestore(after: result)
                else { return nil }
                return (result, try rows(db))
            }
            if let stored { return stored }
        case .shared(let read):
            let result = try database.read { try api.storedResult(cachePolicy, since: witness, in: $0) }
            // What another server has taken over is at least as new as this server's response.
            if let result, !deletions.mustRestore(after: result), case (let rows, true) = try await read() {
                return (result, rows)
            }
        }
        let result = try await refresh(cachePolicy)
        return (result, try await reading.reader()())
    }

    /// Reads the list of ships from the API and takes it over; if that fails, the stored ships are left as they are,
    /// and on a first start the bundled snapshot is imported.
    ///
    /// - Returns: The provenance of the ships, for the screens that show them.
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `CancellationError`.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        let result = try await ships.refresh(from: api, cachePolicy, else: snapshot) {
            events.publishChange(revision: $0)
        }
        try await deletions.listWasRefreshed(result)
        return result
    }
}
