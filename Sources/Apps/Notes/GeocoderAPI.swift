import Foundation
import HTTPSemantics
import HTTPTypes
public import Upstream

/// A geocoder with the interface of Photon, made for questions as one types (`GET /api?q=&limit=`, komoot/photon,
/// README "Search API"). There is none unless one is configured.
public struct GeocoderAPI: Sendable {
    /// Fewest characters that it is asked about.
    static let shortestQuestion = 3

    let upstream: Upstream
    private let freshness: Duration

    /// The geocoder behind an upstream. `freshness` is how long its responses count as fresh.
    public init(upstream: Upstream, freshness: Duration) {
        self.upstream = upstream
        self.freshness = freshness
    }

    /// Places for a question. The bundled gazetteer stands in as its copy: `bundledAt` is the date of that.
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

    /// The places of a response; nil where it is none. Features without a name or a point are left out.
    static func places(in json: Data) -> [Place]? {
        guard let response = try? JSONDecoder().decode(Answer.self, from: json) else { return nil }
        return response.features.compactMap(\.place)
    }

    private struct Answer: Decodable {
        let features: [Feature]
    }

    /// A feature that may be anything.
    private struct Feature: Decodable {
        let place: Place?

        private struct Shape: Decodable {
            struct Geometry: Decodable { let coordinates: [Double] }
            struct Properties: Decodable { let name, city, state, country: String? }
            let geometry: Geometry
            let properties: Properties
        }

        init(from decoder: any Decoder) throws {
            // One of the wrong shape is skipped; it must not take the others with it.
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
