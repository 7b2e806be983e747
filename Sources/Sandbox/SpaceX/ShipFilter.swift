/// A part of MongoDB's query filters: equality, `$ne`, `$in`, `$nin`, `$gt`, `$gte`, `$lt`, `$lte`, all of which have
/// to hold.
struct ShipFilter: Equatable {
    private enum Condition: Equatable {
        case equal(JSONValue)
        case notEqual(JSONValue)
        case among([JSONValue])
        case notAmong([JSONValue])
        case compare(Comparison, JSONValue)
    }

    private enum Comparison: String {
        case greater = "$gt"
        case greaterOrEqual = "$gte"
        case less = "$lt"
        case lessOrEqual = "$lte"
    }

    private struct Clause: Equatable {
        let field: String
        let condition: Condition
    }

    private var clauses: [Clause] = []

    init(_ query: JSONValue) throws(ShipQueryError) {
        guard let object = query.object else { throw ShipQueryError(message: "query must be an object") }
        for member in object.members {
            guard !member.name.hasPrefix("$") else { throw ShipQueryError(message: "\(member.name) is not simulated") }
            for condition in try Self.conditions(member.value) {
                clauses.append(Clause(field: member.name, condition: condition))
            }
        }
    }

    private static func conditions(_ value: JSONValue) throws(ShipQueryError) -> [Condition] {
        guard let members = value.object?.members, members.contains(where: { $0.name.hasPrefix("$") }) else {
            return [.equal(value)]
        }
        var conditions: [Condition] = []
        for member in members { conditions.append(try condition(member.name, member.value)) }
        return conditions
    }

    private static func condition(_ name: String, _ value: JSONValue) throws(ShipQueryError) -> Condition {
        if let comparison = Comparison(rawValue: name) { return .compare(comparison, value) }
        switch (name, value) {
        case ("$eq", _): return .equal(value)
        case ("$ne", _): return .notEqual(value)
        case ("$in", .array(let values)): return .among(values)
        case ("$nin", .array(let values)): return .notAmong(values)
        case ("$in", _), ("$nin", _): throw ShipQueryError(message: "\(name) needs an array")
        default: throw ShipQueryError(message: "unknown operator: \(name)")
        }
    }

    func matches(_ ship: JSONObject) -> Bool {
        clauses.allSatisfy { clause in
            let value = ship[clause.field] ?? .null
            return switch clause.condition {
            case .equal(let wanted): Self.equals(value, wanted)
            case .notEqual(let wanted): !Self.equals(value, wanted)
            case .among(let wanted): wanted.contains { Self.equals(value, $0) }
            case .notAmong(let wanted): !wanted.contains { Self.equals(value, $0) }
            case .compare(let comparison, let bound):
                Self.candidates(value).contains { Self.holds(comparison, $0, bound) }
            }
        }
    }

    /// An array matches if one of its elements does; null and missing are the same.
    private static func candidates(_ value: JSONValue) -> [JSONValue] { (value.array ?? []) + [value] }

    private static func equals(_ value: JSONValue, _ wanted: JSONValue) -> Bool {
        candidates(value).contains { candidate in
            if let left = candidate.double, let right = wanted.double { left == right } else { candidate == wanted }
        }
    }

    /// Only values of one kind compare.
    private static func holds(_ comparison: Comparison, _ value: JSONValue, _ bound: JSONValue) -> Bool {
        guard value.double != nil && bound.double != nil || value.string != nil && bound.string != nil else {
            return false
        }
        let isLess = ShipOrder.precedes(value, bound)
        let isGreater = ShipOrder.precedes(bound, value)
        return switch comparison {
        case .greater: isGreater
        case .greaterOrEqual: !isLess
        case .less: isLess
        case .lessOrEqual: !isGreater
        }
    }
}
