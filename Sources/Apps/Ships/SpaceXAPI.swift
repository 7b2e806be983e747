import Foundation
import HTTPTypes
import Screens
public import Upstream

/// SpaceX REST API v4, as far as the app uses it: the list of all ships, and their pictures.
///
/// One request brings all ships (about 21 KB); there is no paging. Source: r-spacex/SpaceX-API, docs/ships/v4.
public struct SpaceXAPI: Sendable {
    /// Path of the list below the base URL.
    public static let shipsPath = "/v4/ships"

    let upstream: Upstream
    private let freshness: Duration

    /// The API behind an upstream. `freshness` is how long the list counts as fresh.
    public init(upstream: Upstream, freshness: Duration) {
        self.upstream = upstream
        self.freshness = freshness
    }

    /// The list of all ships. `merge` is called with them in the transaction that stores the response.
    func ships(merge: @escaping @Sendable (ShipRecords) -> Resource.PersistRows) -> Resource {
        // No refusal is news (``ErrorForm/none``): there is this one collection, the API is no longer maintained, and
        // its refusals are plain text.
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

    /// A picture, wherever the API says it is; only what looks like one is admitted. Pictures do not change: they are
    /// fresh for ever.
    func picture(at url: String) -> Resource {
        Resource(
            url: url,
            headerFields: [.accept: "image/*"],
            freshness: nil,
            validate: { response throws(UpstreamError) in
                guard PictureType(of: response.body) != nil else {
                    throw .badResponse(status: response.status, reason: "not a picture")
                }
                return { _ in }
            }
        )
    }
}
