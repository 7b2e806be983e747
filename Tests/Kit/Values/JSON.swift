package import Foundation
import JSONValues

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

extension JSON {
    /// Reads JSON text.
    package init(_ data: Data) throws { self.init(try JSONParser.parse(Array(data))) }

    private init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let spelling): self = Double(spelling).map { .number($0) } ?? .null
        case .string(let text): self = .string(text)
        case .array(let values): self = .array(values.map(JSON.init))
        case .object(let object):
            self = .object(Dictionary(object.members.map { ($0.name, JSON($0.value)) }) { _, last in last })
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
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

    /// Returns the value that a JSON pointer (RFC 6901) names.
    package func at(pointer: String) -> JSON? {
        JSONPointer(pointer).flatMap { at($0.tokens) }
    }

    /// Returns the value behind names of members and positions.
    func at(_ tokens: [String]) -> JSON? {
        tokens.reduce(Optional(self)) { value, token in
            let item = value?.array.flatMap { items in
                JSONPointer.index(token).flatMap { items.indices.contains($0) ? items[$0] : nil }
            }
            return item ?? value?[token]
        }
    }

    /// Returns every member of every object within, with the pointer to it.
    package func members(at pointer: String = "") -> [(pointer: String, name: String, value: JSON)] {
        switch self {
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { name, value in
                let place = "\(pointer)/\(JSONPointer.escaped(name))"
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
    package var sortedJSON: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(JSON(Data(utf8))), as: UTF8.self)
        }
    }
}

extension JSONEncoder {
    /// Foundation's encoder with the settings of the wire format, to compare Larder's own encoders with.
    package static var wire: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    package func text(_ value: some Encodable) throws -> String { String(decoding: try encode(value), as: UTF8.self) }
}
