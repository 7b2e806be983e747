import Foundation
import Upstream

/// One ship as the API sends it. Any field may be missing, null or of an unexpected type; missing and null mean the
/// same.
struct ShipRecord: Decodable, Sendable {
    /// The ship; nil without a usable id and a name.
    let ship: Ship?

    private enum Key: String, CodingKey {
        case id, name, type, roles, active, image
        case yearBuilt = "year_built"
        case homePort = "home_port"
        case massKilograms = "mass_kg"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        guard let id = (try? fields.decode(String.self, forKey: .id)).flatMap(Ship.identity),
            let name = Self.text(fields, .name)
        else {
            ship = nil
            return
        }
        ship = Ship(
            id: id,
            name: name,
            type: Self.text(fields, .type),
            roles: ((try? fields.decode(TolerantList<String>.self, forKey: .roles))?.values ?? [])
                .prefix(Ship.maximumRoles).compactMap { $0.flatMap(Self.meaningful) },
            isActive: (try? fields.decode(Bool.self, forKey: .active)) ?? false,
            yearBuilt: Self.number(fields, .yearBuilt).flatMap(Self.year),
            homePort: Self.text(fields, .homePort),
            massKilograms: Self.number(fields, .massKilograms),
            imageURL: Self.text(fields, .image)
        )
    }

    private static func text(_ fields: KeyedDecodingContainer<Key>, _ key: Key) -> String? {
        (try? fields.decode(String.self, forKey: key)).flatMap(meaningful)
    }

    private static func meaningful(_ text: String) -> String? { text.rowText(longest: Ship.longestText) }

    /// A finite number; the API (Mongoose) sends integers and fractions.
    private static func number(_ fields: KeyedDecodingContainer<Key>, _ key: Key) -> Double? {
        (try? fields.decode(Double.self, forKey: key)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// A year as a positive integer, nil for others.
    private static func year(_ number: Double) -> Int? {
        Int(exactly: number.rounded(.towardZero)).flatMap { $0 > 0 ? $0 : nil }
    }
}
