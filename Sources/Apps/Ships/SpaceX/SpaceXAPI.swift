import Foundation
import GRDB
import HTTPTypes
import Screens
import Upstream

/// The SpaceX REST API v4 as far as the app uses it: the list of all ships, and their pictures.
///
/// One request fetches all ships (about 21 KB); there is no paging. Source: r-spacex/SpaceX-API, docs/ships/v4.
struct SpaceXAPI: Sendable {
    /// Path of the list below the base URL.
    static let shipsPath = "/v4/ships"

    let upstream: Upstream
    /// For how long the fetched list is fresh.
    let freshness: Duration

    /// Reads the list of all ships.
    ///
    /// - Parameters:
    ///   - bundledAt: When the bundled snapshot was recorded: it is used while nothing is stored.
    ///   - merge: Called with the ships of a new response; what it returns runs with the transaction that stores the
    ///     response.
    /// - Throws: `UpstreamFailure`, `StorageError`, `CancellationError`.
    func readShips(
        _ cachePolicy: CachePolicy,
        bundledAt: Date,
        merge: @escaping @Sendable (ShipRecords) -> Resource.PersistRows
    ) async throws -> ReadResult {
        let resource = ships(bundledAt: bundledAt, merge: merge)
        return try await upstream.reportingFailures { try await upstream.read(resource, cachePolicy) }
    }

    /// Reads the list of all ships with its body, which is nil if there is no response.
    ///
    /// - Parameters: As of the other function, and `check`, which throws if a new response cannot be taken over: it is
    ///   not stored then.
    /// - Throws: `UpstreamFailure`, `StorageError`, `CancellationError`.
    func readList(
        _ cachePolicy: CachePolicy,
        bundledAt: Date,
        check: @escaping @Sendable (ShipRecords) throws(UpstreamError) -> Void
    ) async throws -> (result: ReadResult, body: Data?) {
        let resource = ships(bundledAt: bundledAt) { records throws(UpstreamError) in
            try check(records)
            return .none
        }
        return try await upstream.reportingFailures { try await upstream.readBody(of: resource, cachePolicy) }
    }

    private func ships(
        bundledAt: Date,
        merge: @escaping @Sendable (ShipRecords) throws(UpstreamError) -> Resource.PersistRows
    ) -> Resource {
        var resource = ships
        resource.bundledAt = bundledAt
        resource.validate = { response throws(UpstreamError) in
            let records: ShipRecords
            do throws(ShipRecords.ShapeError) {
                records = try ShipRecords(json: Data(response.body))
                // The bundled ships at least are known, and ships do not all vanish at once.
                guard !records.ships.isEmpty else { throw .noShips }
            } catch {
                throw .badResponse(status: response.status, reason: error.rawValue)
            }
            return try merge(records)
        }
        return resource
    }

    /// Returns what a read of the list depends on apart from the store.
    func witness() -> ReadWitness { upstream.witness(of: ships.url) }

    /// Returns the result of a read that is served with the stored ships; nil if the API is to be requested.
    func storedResult(_ cachePolicy: CachePolicy, since witness: ReadWitness, in db: Database) throws -> ReadResult? {
        try upstream.storedResult(of: ships, cachePolicy, since: witness, in: db)
    }

    /// The list of all ships. No 4xx is news (`ErrorForm.none`): there is this one collection, the API is no longer
    /// maintained, and its errors are plain text.
    private var ships: Resource {
        Resource(
            url: upstream.configuration.url(of: Self.shipsPath),
            headerFields: [.accept: "application/json"],
            freshness: freshness,
            isSourceOfRows: true
        )
    }
}
