import Foundation
import HTTP
import HTTPTypes
import Upstream

/// A client of a geocoder with the interface of Photon (komoot/photon, README "Search API"). That is made for search as
/// you type (`GET /api?q=&limit=`), and has addresses of positions (`GET /reverse?lat=&lon=`). It is used only if one
/// is configured.
struct GeocoderClient: Sendable {
    /// The fewest characters of a query that is sent.
    static let shortestQuestion = 3

    let upstream: Upstream
    let freshness: Duration

    /// Searches for places. The gazetteer is the bundled copy.
    ///
    /// - Parameters:
    ///   - bundledAt: the date of the gazetteer.
    ///   - readOthers: reads the other rows of the screen, in the transaction that looks for a stored response.
    /// - Returns: the places are nil if there is no usable response.
    /// - Throws: `UpstreamError`; errors of `readOthers`.
    func readPlaces(
        _ question: String,
        limit: Int,
        bundledAt: Date,
        _ cachePolicy: CachePolicy,
        beside readOthers: () throws -> Void
    ) async throws -> (result: ReadResult, places: [Place]?) {
        let resource = places(question, limit: limit, bundledAt: bundledAt)
        let read = try await upstream.readBody(cachePolicy) {
            try readOthers()
            return resource
        }
        guard let read else { throw UpstreamError.notStored }
        return (read.result, read.body.flatMap(Self.places))
    }

    /// Requests the address of a position, rounded to four decimals (11 m), within the patience.
    ///
    /// - Parameter bundledAt: the date of the gazetteer, which is the bundled copy.
    /// - Returns: the address is nil if there is no usable response, or if the geocoder knows none.
    /// - Throws: `UpstreamError`.
    func readAddress(of point: Coordinate, bundledAt: Date) async throws -> (result: ReadResult, address: String?) {
        func rounded(_ degrees: Double) -> Double { (degrees * 1e4).rounded() / 1e4 + 0 }
        let path = "/reverse?lon=\(rounded(point.longitude))&lat=\(rounded(point.latitude))&limit=1"
        let (result, body) = try await upstream.readBody(of: features(path, bundledAt: bundledAt), .useCache)
        return (result, body.flatMap(Self.records)?.lazy.compactMap(\.address).first)
    }

    private func places(_ question: String, limit: Int, bundledAt: Date) -> Resource {
        let spelled = PercentEncoding.encode(question.lowercased(), allowed: .alphanumerics)
        return features("/api?q=\(spelled)&limit=\(limit)", bundledAt: bundledAt)
    }

    private func features(_ path: String, bundledAt: Date) -> Resource {
        var resource = Resource.json(
            FeatureCollection.self,
            "a collection of places",
            at: path,
            of: upstream,
            freshness: freshness
        )
        resource.bundledAt = bundledAt
        return resource
    }

    /// Returns the places of a response; nil if it is malformed. Features without a name or a point are left out.
    static func places(in json: Data) -> [Place]? {
        records(in: json)?.compactMap(\.place)
    }

    private static func records(in json: Data) -> [FeatureRecord]? {
        (try? JSONDecoder().decode(FeatureCollection.self, from: json))?.features.values.compactMap(\.self)
    }

    private struct FeatureCollection: Decodable {
        let features: TolerantList<FeatureRecord>
    }
}

/// A feature of a geocoder (RFC 7946 §3.2, with Photon's properties).
struct FeatureRecord: Decodable, Sendable {
    private struct Geometry: Decodable { let coordinates: [Double] }
    private struct Properties: Decodable { let name, street, housenumber, city, state, country: String? }

    /// The place; nil without a name or a position.
    let place: Place?
    /// Name, or street and house number, with city, state and country; nil without any of them.
    let address: String?

    private enum Key: CodingKey { case geometry, properties }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let coordinates = try container.decode(Geometry.self, forKey: .geometry).coordinates
        let properties = try container.decode(Properties.self, forKey: .properties)
        address = Self.address(properties)
        // The longitude is the first number (RFC 7946 §3.1.1).
        guard let name = properties.name.map(Self.clean), !name.isEmpty, coordinates.count >= 2,
            let point = Coordinate(latitude: coordinates[1], longitude: coordinates[0])
        else {
            place = nil
            return
        }
        let region = Self.line([properties.city, properties.state, properties.country], except: name)
        place = Place(name: name, region: region, coordinate: point, source: .geocoder)
    }

    private static func address(_ properties: Properties) -> String? {
        let street = [properties.street, properties.housenumber].compactMap(\.self).joined(separator: " ")
        let first = properties.name ?? (street.isEmpty ? nil : street)
        let text = line([first, properties.city, properties.state, properties.country], except: "")
        return text.isEmpty ? nil : clean(text)
    }

    /// Joins parts, each once.
    private static func line(_ parts: [String?], except name: String) -> String {
        parts.compactMap { $0.map(clean) }.reduce(into: [String]()) { line, part in
            if !part.isEmpty, part != name, !line.contains(part) { line.append(part) }
        }.joined(separator: ", ")
    }

    private static func clean(_ text: String) -> String { text.rowText(longest: Note.Location.longestName) ?? "" }
}
