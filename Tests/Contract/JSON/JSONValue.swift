import Foundation
import Yams

/// A JSON value of openapi.yaml or a response.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Reads JSON text.
    init(json: Data) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: json)
    }

    /// Reads YAML as the JSON that it stands for: times stay the texts that they are.
    init(yaml: String) throws {
        let resolver = Resolver.default.removing(.timestamp).removing(.value)
        self = try Self(loaded: try Yams.load(yaml: yaml, resolver))
    }

    private struct NotJSON: Error {
        let value: String
    }

    private init(loaded value: Any?) throws {
        switch value {
        case nil, is NSNull: self = .null
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .number(Double(value))
        case let value as Double: self = .number(value)
        case let value as String: self = .string(value)
        case let value as [Any]: self = .array(try value.map(Self.init(loaded:)))
        case let value as [AnyHashable: Any]:
            var members: [String: JSONValue] = [:]
            for (key, member) in value {
                guard let name = key.base as? String else { throw NotJSON(value: "key \(key)") }
                members[name] = try Self(loaded: member)
            }
            self = .object(members)
        default: throw NotJSON(value: "\(value ?? "")")
        }
    }
}

extension JSONValue {
    var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
    var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

    /// A member of an object; nil for everything else.
    subscript(_ name: String) -> JSONValue? { object?[name] }

    /// The value that a JSON pointer (RFC 6901) leads to.
    func at(pointer: String) -> JSONValue? {
        guard !pointer.isEmpty else { return self }
        guard pointer.hasPrefix("/") else { return nil }
        var value = self
        for token in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let name = String(token).replacing("~1", with: "/").replacing("~0", with: "~")
            let item = value.array.flatMap { items in Int(name).flatMap { items.indices.contains($0) ? items[$0] : nil }
            }
            guard let next = item ?? value[name] else { return nil }
            value = next
        }
        return value
    }

    /// Every member of every object within, with the pointer to it.
    func members(at pointer: String = "") -> [(pointer: String, name: String, value: JSONValue)] {
        switch self {
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { name, value in
                let place = pointer + "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
                return [(place, name, value)] + value.members(at: place)
            }
        case .array(let items): items.enumerated().flatMap { $1.members(at: "\(pointer)/\($0)") }
        default: []
        }
    }
}
