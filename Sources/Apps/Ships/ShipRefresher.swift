import Cluster
import Concurrency
import GRDB
import HTTP
import Screens
import Storage
import Upstream

// Brings the stored ships up to date. Every screen that shows ships calls it first.
extension ShipsApp {
    /// Ships that were read, and how they came to be.
    struct Reading<Rows> {
        let result: ReadResult
        let rows: Rows
        /// Nil if the rows are those of all servers.
        var lag: UserDatabase.Lag?

        /// The notification for a screen that shows them.
        var banner: Banner? {
            lag.map { .storeUnavailable(age: $0.age) } ?? (result.provenance.offline ? .shipsOffline : nil)
        }
    }

    /// Brings the stored ships up to date and reads some of them; if the API need not be asked, in one transaction with
    /// their age.
    ///
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `SharedStoreError`,
    ///   `CancellationError`; errors of the reading.
    func refresh<Rows>(_ cachePolicy: CachePolicy, reading rows: (Database) throws -> Rows) async throws
        -> Reading<Rows>
    {
        if let lag = try await store.users.catchUp() { return try reading(behind: lag, rows) }
        let readToken = upstream.readToken(of: list.url)
        let stored = try store.users.read { db -> Reading<Rows>? in
            guard let result = try upstream.storedResult(of: list, cachePolicy, since: readToken, in: db),
                !mustRestore(after: result),
                // The ships of a response may be in another journal than that which this server follows now.
                try !store.users.isShared || ShipStore.contentRevision(db) > 0
            else { return nil }
            return Reading(result: result, rows: try rows(db))
        }
        if let stored { return stored }
        do {
            let result = try await refresh(cachePolicy)
            return Reading(result: result, rows: try store.users.read(rows))
        } catch {
            guard let lag = store.users.lag(after: error) else { throw error }
            return try reading(behind: lag, rows)
        }
    }

    /// Reads ships while changes of other servers cannot be known and nothing can be changed: the API is not asked.
    private func reading<Rows>(behind lag: UserDatabase.Lag, _ rows: (Database) throws -> Rows) throws -> Reading<Rows>
    {
        let readToken = upstream.readToken(of: list.url)
        return try store.users.read { db in
            let stored = try upstream.storedResult(of: list, .onlyIfCached, since: readToken, in: db)
            guard var result = try stored ?? ShipStore.listedAt(db).map(upstream.result(ofRowsFetchedAt:)) else {
                throw lag.reason
            }
            result.provenance.stale = true
            result.changeToken = nil
            return Reading(result: result, rows: try rows(db), lag: lag)
        }
    }

    /// Reads the list of ships from the API and takes it over; if that fails, the stored ships do not change, and on a
    /// first start the bundled snapshot is imported.
    ///
    /// - Returns: The provenance of the ships, for the screens that show them.
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `SharedStoreError`,
    ///   `CancellationError`.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        let listing = try store.listing()
        var resource = list(after: listing)
        resource.bundledAt = snapshot.recordedAt
        let result = try await upstream.reportingFailures { try await upstream.read(resource, cachePolicy) }
        if let response = result.response {
            if let listing { try await confirm(response, result.provenance, after: listing) }
        } else {
            try await store.importSnapshot(snapshot.records.ships)
        }
        try await listWasRefreshed(result)
        return result
    }

    /// Takes over the ships of a stored response again if another server has taken over others since.
    ///
    /// A response that was confirmed before counts only if there never was a ship: it may be older than that which
    /// another server has taken over.
    private func confirm(_ response: CachedResponse, _ provenance: Provenance, after listing: Int64) async throws {
        let content = try store.users.read(ShipStore.contentRevision)
        // A request of another reader may have begun before the other server's.
        let isOwn = provenance.isValidatedNow && provenance.cacheStatus?.collapsed != true
        guard content == 0 || isOwn, let listedAt = provenance.validatedAt,
            let body = try await upstream.body(of: response), !store.merged.holds(body, content: content)
        else { return }
        let merge = ShipMerge(of: try ShipRecords(json: body).ships.map(ShipColumns.init))
        try await upstream.reportingFailures {
            try store.users.read(merge.prepare)
            guard !merge.isComplete else { return }
            try await store.persistRows(of: merge, listedAt: listedAt, after: listing) { publishChange($0) }
                .writeBefore()
        }
        if let content = merge.content { store.merged.note(body, content: content) }
    }
}
