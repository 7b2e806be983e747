import Foundation

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
        // The longitude comes first (RFC 7946 §3.1.1).
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

    private static func clean(_ text: String) -> String {
        let trimmed = text.replacing("\0", with: "").trimmingCharacters(in: .whitespacesAndNewlines)
        return String(trimmed.unicodeScalars.prefix(Note.Location.longestName))
    }
}
