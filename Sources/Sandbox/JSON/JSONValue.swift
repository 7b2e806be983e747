/// A JSON value that renders back to the same text: members keep their order and numbers their spelling (`2010.0` stays
/// `2010.0`).
///
/// Upstreams keep an order of keys and a spelling of numbers without a promise, and clients depend on both; so the
/// sandbox keeps them, too.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The number as it is spelled, valid by RFC 8259 section 6.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number's value; spellings of one value are equal here.
    var double: Double? {
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
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .number(String(value)) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(nilLiteral: ()) { self = .null }

    static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    static func integerOrNull(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(members: elements.map { .init(name: $0.0, value: $0.1) }))
    }
}
