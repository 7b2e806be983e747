package import Foundation

/// A JSON value, which can be walked by names and positions.
@dynamicMemberLookup
package enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])
}

extension JSON: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// Reads JSON text.
    ///
    /// - Throws: `DecodingError` if it is none.
    package init(_ data: Data) throws {
        self = try JSONDecoder().decode(JSON.self, from: data)
    }
}

extension JSON {
    package var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
    package var array: [JSON]? { if case .array(let items) = self { items } else { nil } }
    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var number: Double? { if case .number(let number) = self { number } else { nil } }
    package var int: Int? { number.flatMap { Int(exactly: $0) } }
    package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    package var isNull: Bool { self == .null }

    /// The items of an array; none for everything else.
    package var elements: [JSON] { array ?? [] }
    /// The texts in an array.
    package var strings: [String] { elements.compactMap(\.string) }

    /// A member of an object; nil for everything else.
    package subscript(_ name: String) -> JSON? { object?[name] }
    /// A member of an object; null if there is none.
    package subscript(dynamicMember name: String) -> JSON { object?[name] ?? .null }
    /// An item of an array; null if there is none.
    package subscript(_ index: Int) -> JSON { elements.indices.contains(index) ? elements[index] : .null }

    /// Returns the value that a JSON pointer (RFC 6901) leads to.
    package func at(pointer: String) -> JSON? {
        guard !pointer.isEmpty else { return self }
        guard pointer.hasPrefix("/") else { return nil }
        var value = self
        for token in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let name = String(token).replacing("~1", with: "/").replacing("~0", with: "~")
            let item = value.array.flatMap { items in
                Int(name).flatMap { items.indices.contains($0) ? items[$0] : nil }
            }
            guard let next = item ?? value[name] else { return nil }
            value = next
        }
        return value
    }

    /// Returns every member of every object within, with the pointer to it.
    package func members(at pointer: String = "") -> [(pointer: String, name: String, value: JSON)] {
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

extension JSON: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .number(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        case .array(let items): try container.encode(items)
        case .object(let members): try container.encode(members)
        }
    }
}

extension String {
    /// The same JSON with the members of each object in the order of their names, to compare it as a whole.
    ///
    /// - Throws: `DecodingError` for anything but JSON.
    package var sortedJSON: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(JSON(Data(utf8))), as: UTF8.self)
        }
    }
}
