import Foundation

/// One ship as the API sends it. Every field may be missing, null or, but for a few, of a surprising type; missing and
/// null mean the same.
struct Record: Decodable, Sendable {
    let ship: Ship?

    private enum Key: String, CodingKey {
        case id, name, type, roles, active, image
        case yearBuilt = "year_built"
        case homePort = "home_port"
        case massKilograms = "mass_kg"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        guard let id = Self.text(fields, .id), let name = Self.text(fields, .name), Ship.isIdentity(id) else {
            ship = nil
            return
        }
        ship = Ship(
            id: id,
            name: name,
            type: Self.text(fields, .type),
            roles: ((try? fields.decode([Tolerant<String>].self, forKey: .roles)) ?? []).compactMap {
                $0.value.flatMap(Self.meaningful)
            },
            isActive: (try? fields.decode(Bool.self, forKey: .active)) ?? false,
            yearBuilt: Self.number(fields, .yearBuilt).flatMap { Int(exactly: $0.rounded(.towardZero)) }.flatMap {
                $0 > 0 ? $0 : nil
            },
            homePort: Self.text(fields, .homePort),
            massKilograms: Self.number(fields, .massKilograms),
            imageURL: Self.text(fields, .image)
        )
    }

    private static func text(_ fields: KeyedDecodingContainer<Key>, _ key: Key) -> String? {
        (try? fields.decode(String.self, forKey: key)).flatMap(meaningful)
    }

    /// A text that says something; empty ones mean nothing. Without NUL, at which SQLite would end it: the ship would
    /// differ from its row for ever.
    private static func meaningful(_ text: String) -> String? {
        let text = text.replacing("\0", with: "")
        return text.allSatisfy(\.isWhitespace) ? nil : text
    }

    /// Mongoose numbers come as integers or with a fraction.
    private static func number(_ fields: KeyedDecodingContainer<Key>, _ key: Key) -> Double? {
        (try? fields.decode(Double.self, forKey: key)).flatMap { $0.isFinite ? $0 : nil }
    }
}
