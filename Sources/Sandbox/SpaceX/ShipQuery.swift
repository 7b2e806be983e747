import JSONValues

/// Why a query cannot be run; the API responds with 400 and the text.
struct ShipQueryError: Error, Equatable {
    let message: String
}

/// The body of `POST /v4/ships/query`: `{"query": {…}, "options": {…}}`, both optional. It supports a part of the
/// language of MongoDB and mongoose-paginate-v2. Everything else is refused, not ignored.
struct ShipQuery: Equatable {
    var filter: ShipFilter
    var select: ShipSelection
    var sort: ShipOrder
    var paging: Paging

    struct Paging: Equatable {
        var limit = 10
        /// nil if `page` was given; then the page object has no offset either.
        var offset: Int? = 0
        var page = 1
        var isOn = true

        var skipped: Int { offset ?? (page - 1) * limit }
    }

    init(body: [UInt8]) throws(ShipQueryError) {
        let value: JSONValue
        do {
            value = body.isEmpty ? [:] : try JSONParser.parse(body)
        } catch {
            throw ShipQueryError(message: "Unexpected JSON: \(error)")
        }
        guard let object = value.object else { throw ShipQueryError(message: "Expected an object") }
        filter = try ShipFilter(object["query"] ?? [:])
        guard let options = (object["options"] ?? [:]).object else {
            throw ShipQueryError(message: "options must be an object")
        }
        if options["populate"] != nil { throw ShipQueryError(message: "populate is not simulated") }
        select = try ShipSelection(options["select"])
        sort = try ShipOrder(options["sort"])
        paging = Self.paging(options)
    }

    private static func paging(_ options: JSONObject) -> Paging {
        var paging = Paging()
        paging.isOn = options["pagination"]?.bool ?? true
        // Every value that is not a positive number is 0, as in mongoose-paginate-v2.
        if let limit = options["limit"] { paging.limit = max(0, integer(limit) ?? 0) }
        if let offset = options["offset"] {
            paging.offset = max(0, integer(offset) ?? 0)
            paging.page = paging.limit > 0 ? (paging.skipped / paging.limit) + 1 : 1
        } else if let page = options["page"] {
            paging.page = max(1, integer(page) ?? 1)
            paging.offset = nil
        }
        return paging
    }

    /// Returns a bounded number, so that no product of two of them overflows.
    private static func integer(_ value: JSONValue) -> Int? {
        let number = value.double ?? value.string.flatMap { Double($0) }
        return number.map { Int(min(max($0, -1_000_000), 1_000_000)) }
    }
}

/// A part of MongoDB's query filters: equality, `$ne`, `$in`, `$nin`, `$gt`, `$gte`, `$lt`, `$lte`. All conditions must
/// hold.
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

    /// Compares only values of one kind.
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

    /// The sort is stable: ships that are equal by every key keep their order.
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

/// The `select` option: `"name image"`, `"-launches"`, or an object of 1 and 0. The id is always included, unless it is
/// excluded by name.
struct ShipSelection: Equatable {
    private var included: Set<String> = []
    private var excluded: Set<String> = []

    init(_ option: JSONValue?) throws(ShipQueryError) {
        switch option {
        case .none, .null: break
        case .string(let text):
            for word in text.split(separator: " ") {
                insert(String(word.drop { $0 == "-" }), isIncluded: !word.hasPrefix("-"))
            }
        case .object(let object):
            for member in object.members {
                guard let isIncluded = member.value.bool ?? member.value.double.map({ $0 != 0 }) else {
                    throw ShipQueryError(message: "Invalid select value: { \(member.name) }")
                }
                insert(member.name, isIncluded: isIncluded)
            }
        default: throw ShipQueryError(message: "Invalid select() argument")
        }
        guard included.isEmpty || excluded.subtracting(["id"]).isEmpty else {
            throw ShipQueryError(message: "Projection cannot have a mix of inclusion and exclusion.")
        }
    }

    /// `_id` is the database's name of `id`.
    private mutating func insert(_ field: String, isIncluded: Bool) {
        let field = field == "_id" ? "id" : field
        if isIncluded { included.insert(field) } else { excluded.insert(field) }
    }

    func applied(to ship: JSONObject) -> JSONObject {
        JSONObject(
            members: ship.members.filter { member in
                !excluded.contains(member.name)
                    && (included.isEmpty || included.contains(member.name) || member.name == "id")
            }
        )
    }
}

extension ShipQuery {
    /// The page object of mongoose-paginate-v2 1.7 with its keys in the recorded order.
    func page(of ships: [JSONObject]) -> JSONValue {
        let found = sort.sorted(ships.filter(filter.matches))
        let docs: ArraySlice<JSONObject> =
            paging.isOn ? found.dropFirst(paging.skipped).prefix(paging.limit) : found[...]
        var page: JSONObject = [
            "docs": .array(docs.map { .object(select.applied(to: $0)) }), "totalDocs": .integer(found.count),
            "offset": paging.offset.map { .integer($0) },
        ]
        page.members += numbers(total: found.count).members
        return .object(page)
    }

    private func numbers(total: Int) -> JSONObject {
        let pages = paging.isOn && paging.limit > 0 ? max(1, (total + paging.limit - 1) / paging.limit) : 1
        let number = paging.isOn && paging.limit > 0 ? paging.page : 1
        let previous = paging.isOn && paging.limit > 0 ? previousPage(of: number) : nil
        let next = number < pages ? number + 1 : nil
        return [
            "limit": .integer(paging.isOn ? paging.limit : total),
            "totalPages": .integer(pages),
            "page": .integer(number),
            "pagingCounter": .integer((number - 1) * paging.limit + 1),
            "hasPrevPage": .bool(previous != nil),
            "hasNextPage": .bool(next != nil),
            "prevPage": .integerOrNull(previous),
            "nextPage": .integerOrNull(next),
        ]
    }

    private func previousPage(of number: Int) -> Int? {
        if number > 1 { return number - 1 }
        // A first page with an offset above 0 has the first page before it.
        return (paging.offset ?? 0) > 0 ? 1 : nil
    }
}
