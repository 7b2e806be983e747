/// The `select` option: `"name image"`, `"-launches"`, or an object of 1 and 0. The id comes always, unless it is taken
/// out.
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
