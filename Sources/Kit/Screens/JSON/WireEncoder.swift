import Foundation

/// Encodes values that are not ``JSONWritable``, for ``WireFormat``. It makes `JSONEncoder`'s bytes in a third of its
/// time: names are converted and types are inspected once for each encoding, not for each row.
final class WireEncoder: Encoder {
    /// The value so far.
    var value: WireValue?
    let lookups: Lookups

    /// Not tracked: nothing that is sent reads it.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(lookups: Lookups, value: WireValue? = nil) {
        self.lookups = lookups
        self.value = value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object(let members) = value {
            return KeyedEncodingContainer(WireKeyedContainer(members: members, lookups: lookups))
        }
        let members = WireValue.Members()
        value = .object(members)
        return KeyedEncodingContainer(WireKeyedContainer(members: members, lookups: lookups))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array(let elements) = value { return WireUnkeyedContainer(elements: elements, lookups: lookups) }
        let elements = WireValue.Elements()
        value = .array(elements)
        return WireUnkeyedContainer(elements: elements, lookups: lookups)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { WireSingleValueContainer(encoder: self) }

    /// Encodes a value of any type. Dates are written as ``WireFormat/timestamp(_:)``, URLs as their text, bytes in
    /// Base64, decimals as numbers, the keys of a dictionary unchanged.
    static func wrap<Value: Encodable>(_ value: Value, _ lookups: Lookups) throws -> WireValue {
        switch lookups.kind(of: Value.self) {
        case .date: if let date = value as? Date { return .string(WireFormat.timestamp(date)) }
        case .url: if let url = value as? URL { return .string(url.absoluteString) }
        case .data: if let data = value as? Data { return .string(data.base64EncodedString()) }
        case .decimal: if let decimal = value as? Decimal { return .decimal(decimal) }
        case .direct: if let value = value as? any JSONWritable { return .direct(value) }
        case .dictionary: if let dictionary = value as? any StringKeyed { return try dictionary.members(lookups) }
        case .other: break
        }
        let encoder = WireEncoder(lookups: lookups)
        try value.encode(to: encoder)
        return encoder.value ?? .object(WireValue.Members())
    }
}

extension WireEncoder {
    /// What one encoding has learned of names and types, for the rows that follow.
    final class Lookups {
        /// How the values of a type are written.
        enum Kind {
            case date, url, data, decimal, dictionary, direct
            /// As its own `encode(to:)` does.
            case other
        }

        private var names: [String: String] = [:]
        private var kinds: [ObjectIdentifier: Kind] = [:]

        func nameOnWire(_ name: String) -> String {
            if let known = names[name] { return known }
            let text = SnakeCase.text(name)
            names[name] = text
            return text
        }

        func kind<Value>(of type: Value.Type) -> Kind {
            if let known = kinds[ObjectIdentifier(type)] { return known }
            let kind: Kind =
                switch type {
                case is Date.Type: .date
                case is URL.Type: .url
                case is Data.Type: .data
                case is Decimal.Type: .decimal
                case is any JSONWritable.Type: .direct
                case is any StringKeyed.Type: .dictionary
                default: .other
                }
            kinds[ObjectIdentifier(type)] = kind
            return kind
        }
    }
}

/// A dictionary with text keys: they are data, not names, and are not converted.
private protocol StringKeyed {
    func members(_ lookups: WireEncoder.Lookups) throws -> WireValue
}

extension Dictionary: StringKeyed where Key == String, Value: Encodable {
    fileprivate func members(_ lookups: WireEncoder.Lookups) throws -> WireValue {
        let members = WireValue.Members()
        for (key, value) in self { members.set(key, try WireEncoder.wrap(value, lookups)) }
        return .object(members)
    }
}
