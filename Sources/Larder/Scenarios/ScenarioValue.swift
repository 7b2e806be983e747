import Foundation

/// A value of JSON, as a scenario writes and compares it.
enum ScenarioValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([ScenarioValue])
    case object([String: ScenarioValue])

    /// Reads a text of JSON; nil if it is none.
    init?(json: some Sequence<UInt8>) {
        guard let value = try? JSONDecoder().decode(ScenarioValue.self, from: Data(json)) else { return nil }
        self = value
    }

    /// Returns the value at a JSON pointer (RFC 6901); nil if there is none.
    func value(at pointer: String) -> ScenarioValue? {
        pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().reduce(self) { value, token in
            let name = String(token.replacing("~1", with: "/").replacing("~0", with: "~"))
            switch value {
            case .object(let members): return members[name]
            case .array(let items): return Int(name).flatMap { items.indices.contains($0) ? items[$0] : nil }
            default: return nil
            }
        }
    }

    /// Returns the value with the texts in which names are replaced.
    func filled(with replace: (String) throws(ScenarioFailure) -> String) throws(ScenarioFailure) -> ScenarioValue {
        switch self {
        case .string(let text): return .string(try replace(text))
        case .array(let items):
            var filled: [ScenarioValue] = []
            for item in items { filled.append(try item.filled(with: replace)) }
            return .array(filled)
        case .object(var members):
            for (name, value) in members { members[name] = try value.filled(with: replace) }
            return .object(members)
        default: return self
        }
    }

    /// The JSON, its members sorted by name.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Finite numbers and texts can always be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

extension ScenarioValue: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([ScenarioValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: ScenarioValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value):
            if let whole = Int(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
