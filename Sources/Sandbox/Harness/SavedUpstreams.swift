import Foundation
import JSONValues
import Synchronization

/// The saved state of the simulated upstreams: data, faults and rules. It contains neither held requests nor the
/// journal.
package struct SavedUpstreams: Sendable {
    /// One for each upstream, in their order.
    let data: [any Sendable]
    let rules: [RuleSet]
    /// Upstreams that were made from documents.
    let stubs: [OpenAPIStub]
}

extension SimulatedUpstreams {
    var data: [any Sendable] { slots.map { $0.upstream.save() } }

    /// Takes data that was saved before.
    func restore(_ data: [any Sendable]) {
        for (slot, saved) in zip(slots, data) { slot.upstream.restore(saved) }
    }

    func save() -> SavedUpstreams { SavedUpstreams(data: data, rules: slots.map(\.gate.rules), stubs: stubbed) }

    /// Resets everything, and takes the saved data.
    func restore(_ saved: SavedUpstreams) {
        reset()
        for stub in saved.stubs { _ = add(stub) }
        restore(saved.data)
        for (slot, rules) in zip(slots, saved.rules) {
            slot.gate.change { set in
                set = rules
                // The condition of a space remains, as after a reset.
                if faults.fault != .online { set.set(faults.fault) }
            }
        }
    }
}

// The data of each upstream. Data of another type are ignored; no caller passes any.
extension SpaceX {
    func save() -> any Sendable { ships.data }

    func restore(_ saved: any Sendable) {
        if let data = saved as? JSONValue { ships.replace(with: data) }
    }
}

extension Catalogue {
    func save() -> any Sendable { data.rows }

    func restore(_ saved: any Sendable) {
        if let rows = saved as? CatalogueData.Rows { data.update { $0 = rows } }
    }
}

// Saved data as JSON, a file for each upstream.
extension SimulatedUpstreams {
    private static let faults = "faults"

    /// Returns the saved data as files, by their names without an extension. Rules are not part of it.
    func encode(_ saved: SavedUpstreams) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for (slot, data) in zip(slots, saved.data) {
            files[slot.upstream.name] = try slot.upstream.encode(data)
        }
        let faults = zip(slots, saved.rules).map { ($0.upstream.name, $1.fault.description) }
        files[Self.faults] = try SavedJSON.encode(Dictionary(uniqueKeysWithValues: faults))
        return files
    }

    /// Resets everything, and takes the result of ``encode(_:)``.
    func restore(_ files: [String: Data]) throws {
        let faults = try files[Self.faults].map { try SavedJSON.decode([String: String].self, $0) } ?? [:]
        var data: [any Sendable] = []
        var rules: [RuleSet] = []
        for slot in slots {
            let name = slot.upstream.name
            data.append(try files[name].map { try slot.upstream.decode($0) } ?? slot.upstream.save())
            var set = RuleSet()
            if let text = faults[name] { set.set(try FaultPlan(parsing: text)) }
            rules.append(set)
        }
        restore(SavedUpstreams(data: data, rules: rules, stubs: []))
    }
}

/// JSON that is indented, and equal for equal values.
enum SavedJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }
}

extension SpaceX {
    func encode(_ saved: any Sendable) throws -> Data? { (saved as? JSONValue).map { Data($0.serialized()) } }

    func decode(_ data: Data) throws -> any Sendable { try JSONParser.parse(Array(data)) }
}

extension Catalogue {
    func encode(_ saved: any Sendable) throws -> Data? {
        try (saved as? CatalogueData.Rows).map { try SavedJSON.encode($0) }
    }

    func decode(_ data: Data) throws -> any Sendable { try SavedJSON.decode(CatalogueData.Rows.self, data) }
}

extension People {
    func encode(_ saved: any Sendable) throws -> Data? { try (saved as? State).map { try SavedJSON.encode($0) } }

    func decode(_ data: Data) throws -> any Sendable { try SavedJSON.decode(State.self, data) }
}

extension YandexDisk {
    func encode(_ saved: any Sendable) throws -> Data? { try (saved as? Saved).map { try SavedJSON.encode($0) } }

    func decode(_ data: Data) throws -> any Sendable {
        let saved = try SavedJSON.decode(Saved.self, data)
        guard var files = saved.files else { return saved }
        for index in files.trees.indices { files.trees[index].findChildren() }
        return Saved(files: files, accounts: saved.accounts)
    }
}
