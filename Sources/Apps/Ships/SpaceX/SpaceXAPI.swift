import Foundation
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
    ///   - merge: Called with the ships of a new response; what it returns runs in the transaction that stores the
    ///     response.
    /// - Throws: `UpstreamFailure`, `StorageError`, `CancellationError`.
    func readShips(
        _ cachePolicy: CachePolicy,
        bundledAt: Date,
        merge: @escaping @Sendable (ShipRecords) -> Resource.PersistRows
    ) async throws -> ReadResult {
        var resource = ships(merge: merge)
        resource.bundledAt = bundledAt
        return try await upstream.reportingFailures { try await upstream.read(resource, cachePolicy) }
    }

    /// The list of all ships. No 4xx is news (`ErrorForm.none`): there is this one collection, the API is no longer
    /// maintained, and its errors are plain text.
    private func ships(merge: @escaping @Sendable (ShipRecords) -> Resource.PersistRows) -> Resource {
        Resource(
            url: upstream.configuration.url(of: Self.shipsPath),
            headerFields: [.accept: "application/json"],
            freshness: freshness,
            isSourceOfRows: true,
            validate: { response throws(UpstreamError) in
                do throws(ShipRecords.ShapeError) {
                    return merge(try ShipRecords(json: Data(response.body)))
                } catch {
                    throw .badResponse(status: response.status, reason: error.rawValue)
                }
            }
        )
    }
}
