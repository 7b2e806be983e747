import JSONValues
import Synchronization

/// The ships of the simulated API: usually an array of objects, which a test may replace by any JSON.
final class ShipRecords: Sendable {
    /// Placeholder of the sandbox's own origin in the data; the origin is known only when the sandbox listens.
    static let originMarker = "{origin}"

    private struct State {
        var data: JSONValue
        /// Rendered lists by origin, until the data changes.
        var lists: [String: [UInt8]] = [:]
        /// The content of the API's own cache.
        var served: Set<String> = []
    }

    private let initial: JSONValue
    private let state: Mutex<State>

    init(initial: JSONValue) {
        self.initial = initial
        state = Mutex(State(data: initial))
    }

    private static func render(_ value: JSONValue, origin: String) -> JSONValue {
        value.mapStrings { $0.replacing(originMarker, with: origin) }
    }

    /// The body of the list: all records.
    func list(origin: String) -> [UInt8] {
        state.withLock { state in
            if let list = state.lists[origin] { return list }
            let list = Self.render(state.data, origin: origin).serialized()
            state.lists[origin] = list
            return list
        }
    }

    /// Every record that is an object.
    func all(origin: String) -> [JSONObject] {
        let data = state.withLock { $0.data }
        return Self.render(data, origin: origin).array?.compactMap(\.object) ?? []
    }

    func ship(id: String, origin: String) -> [UInt8]? {
        let record = state.withLock { state in state.data.array?.first { $0.object?["id"] == .string(id) } }
        return record.map { Self.render($0, origin: origin).serialized() }
    }

    /// Returns whether a response was served since the data last changed, and records that it was.
    func wasServed(_ key: String) -> Bool {
        state.withLock { state in
            // Clients choose the queries, so their number is bounded here.
            if state.served.count >= 1_000 { state.served = [] }
            return !state.served.insert(key).inserted
        }
    }

    var data: JSONValue { state.withLock { $0.data } }

    func reset() { replace(with: initial) }

    func replace(with data: JSONValue) {
        state.withLock { $0 = State(data: data) }
    }

    /// Changes the array of records. `change` gets nil if the data is no array; nothing is changed if it throws.
    func update<Result: Sendable>(_ change: (inout [JSONValue]?) throws(ControlProblem) -> Result)
        throws(ControlProblem) -> Result
    {
        try state.withLock { state throws(ControlProblem) in
            var records = state.data.array
            let result = try change(&records)
            if let records { state = State(data: .array(records)) }
            return result
        }
    }
}

/// The parts of the schema of a ship that the sandbox needs.
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
        return .object(JSONObject(keys.map { ($0, defaults[$0] ?? .null) }))
    }

    /// 24 hexadecimal digits in lower case, as MongoDB writes an ObjectId.
    static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 24 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
