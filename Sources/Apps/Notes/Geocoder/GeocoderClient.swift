import Foundation
import HTTPSemantics
import HTTPTypes
public import Upstream

/// A client of a geocoder with the interface of Photon, which is made for search as you type (`GET /api?q=&limit=`,
/// komoot/photon, README "Search API"). It is used only if one is configured.
public struct GeocoderClient: Sendable {
    /// The fewest characters of a query that is sent.
    static let shortestQuestion = 3

    private let upstream: Upstream
    private let freshness: Duration

    /// Creates a client of an upstream.
    ///
    /// - Parameter freshness: how long responses are fresh.
    public init(upstream: Upstream, freshness: Duration) {
        self.upstream = upstream
        self.freshness = freshness
    }

    /// Searches for places. The gazetteer is the bundled copy.
    ///
    /// - Parameter bundledAt: the date of the gazetteer.
    /// - Returns: the places are nil if no response could be had.
    /// - Throws: `UpstreamError`, `StorageError`.
    func readPlaces(_ question: String, limit: Int, bundledAt: Date, _ cachePolicy: CachePolicy) async throws -> (
        result: ReadResult, places: [Place]?
    ) {
        let resource = places(question, limit: limit, bundledAt: bundledAt)
        let (result, body) = try await upstream.readBody(of: resource, cachePolicy)
        return (result, body.flatMap(Self.places))
    }

    private func places(_ question: String, limit: Int, bundledAt: Date) -> Resource {
        let spelled = PercentEncoding.encode(question.lowercased(), allowed: .alphanumerics)
        var resource = Resource(
            url: upstream.configuration.url(of: "/api?q=\(spelled)&limit=\(limit)"),
            headerFields: [.accept: "application/json"],
            freshness: freshness,
            validate: { response throws(UpstreamError) in
                guard Self.places(in: Data(response.body)) != nil else {
                    throw .badResponse(status: response.status, reason: "not a collection of places")
                }
                return { _ in }
            }
        )
        resource.bundledAt = bundledAt
        return resource
    }

    /// Returns the places of a response; nil if it is malformed. Features without a name or a point are left out.
    static func places(in json: Data) -> [Place]? {
        guard let response = try? JSONDecoder().decode(FeatureCollection.self, from: json) else { return nil }
        return response.features.compactMap { $0.value?.place }
    }

    private struct FeatureCollection: Decodable {
        let features: [Tolerant<FeatureRecord>]
    }
}
