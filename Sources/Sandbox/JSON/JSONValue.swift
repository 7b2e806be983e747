/// A JSON value that renders back to the same text: members keep their order and numbers their spelling (`2010.0` stays
/// `2010.0`).
///
/// Upstreams keep an order of keys and a spelling of numbers without a promise, and clients depend on both; so the
/// sandbox keeps them, too.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The number as it is spelled, valid by RFC 8259 section 6.
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

    /// The value with `transform` applied to every string in it, names of members excepted.
    func mapStrings(_ transform: (String) -> String) -> JSONValue {
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

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .number(String(value)) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }

    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    static func integerOrNull(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(members: elements.map { .init(name: $0.0, value: $0.1) }))
    }
}
