import Foundation
import HTTPSemantics
import HTTPTypes
public import Upstream

/// A client of a geocoder with the interface of Photon, which is made for search as you type (`GET /api?q=&limit=`,
/// komoot/photon, README "Search API"). It is used only if one is configured.
public struct GeocoderClient: Sendable {
    /// The fewest characters of a query that is sent.
    static let shortestQuestion = 3

    let upstream: Upstream
    private let freshness: Duration

    /// Creates a client of an upstream.
    ///
    /// - Parameter freshness: how long responses are fresh.
    public init(upstream: Upstream, freshness: Duration) {
        self.upstream = upstream
        self.freshness = freshness
    }

    /// Returns the resource of places for a query. The gazetteer is its built-in copy.
    ///
    /// - Parameter bundledAt: the date of the gazetteer.
    func places(_ question: String, limit: Int, bundledAt: Date) -> Resource {
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
        return response.features.compactMap(\.place)
    }

    private struct FeatureCollection: Decodable {
        let features: [Feature]
    }

    /// A feature of any shape.
    private struct Feature: Decodable {
        let place: Place?

        private struct Shape: Decodable {
            struct Geometry: Decodable { let coordinates: [Double] }
            struct Properties: Decodable { let name, city, state, country: String? }
            let geometry: Geometry
            let properties: Properties
        }

        init(from decoder: any Decoder) throws {
            // One of another shape is skipped and does not affect the others.
            guard let shape = try? Shape(from: decoder), let name = shape.properties.name.map(Self.clean),
                !name.isEmpty, shape.geometry.coordinates.count >= 2,
                let point = Coordinate(
                    latitude: shape.geometry.coordinates[1],
                    longitude: shape.geometry.coordinates[0]
                )
            else {
                place = nil
                return
            }
            var around: [String] = []
            for part in [shape.properties.city, shape.properties.state, shape.properties.country].compactMap({
                $0.map(Self.clean)
            })
            where !part.isEmpty && part != name && !around.contains(part) {
                around.append(part)
            }
            place = Place(name: name, region: around.joined(separator: ", "), coordinate: point, source: .geocoder)
        }

        private static func clean(_ text: String) -> String {
            String(
                text.replacing("\0", with: "").trimmingCharacters(in: .whitespacesAndNewlines).unicodeScalars.prefix(
                    Note.Location.longestName
                )
            )
        }
    }
}
