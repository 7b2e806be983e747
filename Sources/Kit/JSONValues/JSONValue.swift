/// A JSON value that renders back to the same text: members keep their order and numbers their spelling (`2010.0` stays
/// `2010.0`).
///
/// Upstreams keep an order of keys and a spelling of numbers without a promise, and clients depend on both; so the
/// sandbox keeps them, too.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The spelling of the number, valid by RFC 8259 section 6.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number's value; spellings of one value are equal here.
    package var double: Double? {
        if case .number(let spelling) = self { Double(spelling) } else { nil }
    }

    /// The number's value, if that is a whole number.
    package var int: Int? { double.flatMap { Int(exactly: $0) } }

    /// The strings of an array, without its other elements; empty for other values.
    package var strings: [String] { array?.compactMap(\.string) ?? [] }

    package subscript(name: String) -> JSONValue? { object?[name] }

    /// The value with `transform` applied to every string in it, names of members excepted.
    package func mapStrings(_ transform: (String) -> String) -> JSONValue {
        switch self {
        case .null, .bool, .number: self
        case .string(let value): .string(transform(value))
        case .array(let values): .array(values.map { $0.mapStrings(transform) })
        case .object(let object):
            .object(
                JSONObject(members: object.members.map { .init(name: $0.name, value: $0.value.mapStrings(transform)) })
            )
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .number(String(value)) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }

    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    package static func integerOrNull(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(members: elements.map { .init(name: $0.0, value: $0.1) }))
    }
}

/// The members of a JSON object in their order in the text.
package struct JSONObject: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONValue

        package init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
    }

    package var members: [Member]

    package init(members: [Member] = []) { self.members = members }

    /// Leaves out members without a value.
    package init(_ members: [(String, JSONValue?)]) {
        self.members = members.compactMap { name, value in value.map { Member(name: name, value: $0) } }
    }

    /// The last member of that name wins, as with `JSON.parse`. Setting keeps the place of a member; nil removes it.
    package subscript(name: String) -> JSONValue? {
        get { members.last { $0.name == name }?.value }
        set {
            guard let newValue else { return members.removeAll { $0.name == name } }
            if let index = members.lastIndex(where: { $0.name == name }) {
                members[index].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
        }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Leaves out members without a value.
    package init(dictionaryLiteral members: (String, JSONValue?)...) { self.init(members) }
}

/// JSON within a saved state is kept as its text: members keep their order, and numbers their spelling.
extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self = try JSONParser.parse(Array(try container.decode(String.self).utf8))
        } catch let error as JSONSyntaxError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }
}

extension JSONObject: Codable {
    package init(from decoder: any Decoder) throws { self = try JSONValue(from: decoder).object ?? JSONObject() }

    package func encode(to encoder: any Encoder) throws { try JSONValue.object(self).encode(to: encoder) }
}
