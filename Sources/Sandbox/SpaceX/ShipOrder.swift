/// The `sort` option: `"-year_built name"` or `{"year_built":-1,"name":1}`. Without it the order is that of the data.
struct ShipOrder: Equatable {
    private struct Key: Equatable {
        let field: String
        let isDescending: Bool
    }

    private var keys: [Key] = []

    init(_ option: JSONValue?) throws(ShipQueryError) {
        switch option {
        case .none, .null: break
        case .string(let text):
            keys = text.split(separator: " ").map {
                Key(field: String($0.drop { $0 == "-" }), isDescending: $0.hasPrefix("-"))
            }
        case .object(let object):
            for member in object.members {
                guard let isDescending = Self.direction(member.value) else {
                    throw ShipQueryError(message: "Invalid sort value: { \(member.name) }")
                }
                keys.append(Key(field: member.name, isDescending: isDescending))
            }
        default: throw ShipQueryError(message: "Invalid sort() argument")
        }
    }

    private static func direction(_ value: JSONValue) -> Bool? {
        switch value.string ?? value.double.map({ String(Int(max(-2, min(2, $0)))) }) {
        case "1", "asc", "ascending": false
        case "-1", "desc", "descending": true
        default: nil
        }
    }

    /// Stable: what is equal by every key keeps its order.
    func sorted(_ ships: [JSONObject]) -> [JSONObject] {
        guard !keys.isEmpty else { return ships }
        return ships.enumerated().sorted { left, right in
            for key in keys {
                let (first, second) = (left.element[key.field] ?? .null, right.element[key.field] ?? .null)
                if Self.precedes(first, second) { return !key.isDescending }
                if Self.precedes(second, first) { return key.isDescending }
            }
            return left.offset < right.offset
        }.map(\.element)
    }

    /// MongoDB's order of kinds and, within a kind, of values; strings by their bytes. Objects and arrays are equal
    /// among themselves here.
    static func precedes(_ left: JSONValue, _ right: JSONValue) -> Bool {
        if let left = left.double, let right = right.double { return left < right }
        if let left = left.string, let right = right.string { return left.utf8.lexicographicallyPrecedes(right.utf8) }
        if let left = left.bool, let right = right.bool { return !left && right }
        return rank(left) < rank(right)
    }

    private static func rank(_ value: JSONValue) -> Int {
        switch value {
        case .null: 0
        case .number: 1
        case .string: 2
        case .object: 3
        case .array: 4
        case .bool: 5
        }
    }
}
