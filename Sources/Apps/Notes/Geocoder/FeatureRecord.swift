import Foundation

/// A feature of a geocoder (RFC 7946 §3.2, with Photon's properties).
struct FeatureRecord: Decodable, Sendable {
    private struct Geometry: Decodable { let coordinates: [Double] }
    private struct Properties: Decodable { let name, city, state, country: String? }

    /// The place; nil without a name or a position.
    let place: Place?

    private enum Key: CodingKey { case geometry, properties }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let coordinates = try container.decode(Geometry.self, forKey: .geometry).coordinates
        let properties = try container.decode(Properties.self, forKey: .properties)
        // The longitude comes first (RFC 7946 §3.1.1).
        guard let name = properties.name.map(Self.clean), !name.isEmpty, coordinates.count >= 2,
            let point = Coordinate(latitude: coordinates[1], longitude: coordinates[0])
        else {
            place = nil
            return
        }
        let parts = [properties.city, properties.state, properties.country].compactMap { $0.map(Self.clean) }
        let region = parts.reduce(into: [String]()) { region, part in
            if !part.isEmpty, part != name, !region.contains(part) { region.append(part) }
        }
        place = Place(name: name, region: region.joined(separator: ", "), coordinate: point, source: .geocoder)
    }

    private static func clean(_ text: String) -> String {
        let trimmed = text.replacing("\0", with: "").trimmingCharacters(in: .whitespacesAndNewlines)
        return String(trimmed.unicodeScalars.prefix(Note.Location.longestName))
    }
}
