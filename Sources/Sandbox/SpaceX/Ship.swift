/// The schema of a ship as far as the sandbox has to know it.
enum Ship {
    /// The keys in the order of the dump of 2024.
    static let keys = [
        "last_ais_update", "legacy_id", "model", "type", "roles", "imo", "mmsi", "abs", "class", "mass_kg", "mass_lbs",
        "year_built", "home_port", "status",
        "speed_kn", "course_deg", "latitude", "longitude", "link", "image", "name", "active", "launches", "id",
    ]

    /// A new ship: the schema's defaults, everything else null.
    static func blank(id: String) -> JSONValue {
        let defaults: [String: JSONValue] = ["roles": [], "launches": [], "active": true, "id": .string(id)]
        return .object(JSONObject(members: keys.map { .init(name: $0, value: defaults[$0] ?? .null) }))
    }

    /// 24 hexadecimal digits in lower case, as MongoDB writes an ObjectId.
    static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 24 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
