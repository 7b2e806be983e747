import Foundation

/// Encodes values straight into JSON, without a tree of them: members in the order in which `encode(to:)` names them,
/// names in snake_case, the keys of a dictionary unchanged and sorted.
///
/// Containers are filled one after the other. A container that is written to after its successor has begun is an
/// `EncodingError`: its bytes have been followed by others.
final class JSONStreamEncoder {
    // Never accessed twice at a time: each access is a call that returns. The dynamic checks cost a fifth of a list.
    @exclusivity(unchecked) fileprivate var json = JSONWriter()
    /// The objects and arrays that have begun and not ended, outermost first.
    @exclusivity(unchecked) private var open: [Scope] = []
    @exclusivity(unchecked) private var lastScope = 0
    /// The kinds of the types seen so far, a dozen at most: to find one out takes longer than to look it up.
    @exclusivity(unchecked) private var kinds: [(type: ObjectIdentifier, kind: Kind)] = []

    /// Encodes a value. Dates are written as ``WireFormat/timestamp(_:)``, URLs as their text, bytes in Base64,
    /// decimals as numbers.
    ///
    /// - Throws: `EncodingError`, for example for a number that JSON cannot represent.
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONStreamEncoder()
        try encoder.write(value, at: 0)
        return Data(encoder.json.bytes)
    }

    /// - Parameter key: its key in an object.
    fileprivate func write<Value: Encodable>(_ value: Value, for key: (any CodingKey)? = nil, at depth: Int) throws {
        // The types of most members. The first comparison is of two pointers; a cast alone takes ten times as long.
        if Value.self == String.self, let text = value as? String { return json.value(text, for: key) }
        if Value.self == Text.self, let text = value as? Text { return json.value(text[json.language], for: key) }
        if Value.self == Link.self, let link = value as? Link {
            return json.value(link.requestTarget(in: json.profile), for: key)
        }
        let kind = kind(of: Value.self)
        if kind == .flattened, key != nil { return try value.encode(to: ValueEncoder(stream: self, depth: depth - 1)) }
        if let key { json.snakeCaseName(key.stringValue) }
        switch kind {
        case .date: if let date = value as? Date { return json.value(WireFormat.timestamp(date)) }
        case .url: if let url = value as? URL { return json.value(url.absoluteString) }
        case .data: if let data = value as? Data { return json.value(data.base64EncodedString()) }
        case .decimal: if let decimal = value as? Decimal { return try json.value(decimal) }
        case .dictionary: if let value = value as? any StringKeyed { return try value.write(to: self, at: depth) }
        case .flattened, .other: break
        }
        let length = json.bytes.count
        try value.encode(to: ValueEncoder(stream: self, depth: depth))
        if json.bytes.count == length { _ = beginObject(at: depth) }
        end(to: depth)
    }
}

extension JSONStreamEncoder {
    /// An object or array that has begun.
    fileprivate struct Scope {
        let number: Int
        let isObject: Bool
    }

    /// Begins the object of a value, or continues it: a type may ask for its container more than once.
    fileprivate func beginObject(at depth: Int) -> Int {
        guard open.count <= depth else {
            end(to: depth + 1)
            return open[depth].number
        }
        json.beginObject()
        return push(isObject: true)
    }

    /// Begins the array of a value, or continues it.
    fileprivate func beginArray(at depth: Int) -> Int {
        guard open.count <= depth else {
            end(to: depth + 1)
            return open[depth].number
        }
        json.beginArray()
        return push(isObject: false)
    }

    private func push(isObject: Bool) -> Int {
        lastScope += 1
        open.append(Scope(number: lastScope, isObject: isObject))
        return lastScope
    }

    /// Ends the objects and arrays below a depth.
    fileprivate func end(to depth: Int) {
        while open.count > depth {
            if open.removeLast().isObject { json.endObject() } else { json.endArray() }
        }
    }

    /// Ends the containers inside of a container, before its next member or element.
    fileprivate func proceed(in scope: Int, at depth: Int) throws {
        if open.count > depth { end(to: depth) }
        guard open.count == depth, open[depth - 1].number == scope else {
            let context = EncodingError.Context(
                codingPath: [],
                debugDescription: "A container that has ended is filled."
            )
            throw EncodingError.invalidValue(scope, context)
        }
    }

    private enum Kind { case date, url, data, decimal, dictionary, flattened, other }

    private func kind<Value>(of type: Value.Type) -> Kind {
        let identifier = ObjectIdentifier(type)
        if let known = kinds.first(where: { $0.type == identifier }) { return known.kind }
        let kind: Kind =
            switch type {
            case is Date.Type: .date
            case is URL.Type: .url
            case is Data.Type: .data
            case is Decimal.Type: .decimal
            case is any StringKeyed.Type: .dictionary
            case is any FlattenedMembers.Type: .flattened
            default: .other
            }
        kinds.append((identifier, kind))
        return kind
    }
}

/// A dictionary with text keys.
private protocol StringKeyed {
    func write(to stream: JSONStreamEncoder, at depth: Int) throws
}

extension Dictionary: StringKeyed where Key == String, Value: Encodable {
    fileprivate func write(to stream: JSONStreamEncoder, at depth: Int) throws {
        _ = stream.beginObject(at: depth)
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            stream.json.name(key)
            try stream.write(value, at: depth + 1)
        }
        stream.end(to: depth)
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ text: String, for key: (any CodingKey)?) {
        if let key { snakeCaseName(key.stringValue) }
        value(text)
    }
}

/// A value whose members are those of the object that it is a member of. The name of its property is not written.
@propertyWrapper
package struct Flattened<Value: Encodable & Sendable>: Encodable, Sendable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

private protocol FlattenedMembers {}

extension Flattened: FlattenedMembers {}

/// The encoder of one value, at its depth in the output.
private struct ValueEncoder: Encoder {
    let stream: JSONStreamEncoder
    let depth: Int
    // Not tracked: no response shows them.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let scope = stream.beginObject(at: depth)
        return KeyedEncodingContainer(ObjectContainer(stream: stream, scope: scope, depth: depth + 1))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        ArrayContainer(stream: stream, scope: stream.beginArray(at: depth), depth: depth + 1)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ValueEncoder: SingleValueEncodingContainer {
    func encodeNil() { stream.json.null() }
    func encode(_ value: Bool) { stream.json.value(value) }
    func encode(_ value: String) { stream.json.value(value) }
    func encode(_ value: Double) throws { try stream.json.value(value) }
    func encode(_ value: Float) throws { try stream.json.value(value) }
    func encode(_ value: Int) { stream.json.value(value) }
    func encode(_ value: Int8) { stream.json.value(value) }
    func encode(_ value: Int16) { stream.json.value(value) }
    func encode(_ value: Int32) { stream.json.value(value) }
    func encode(_ value: Int64) { stream.json.value(value) }
    func encode(_ value: UInt) { stream.json.value(value) }
    func encode(_ value: UInt8) { stream.json.value(value) }
    func encode(_ value: UInt16) { stream.json.value(value) }
    func encode(_ value: UInt32) { stream.json.value(value) }
    func encode(_ value: UInt64) { stream.json.value(value) }
    func encode(_ value: some Encodable) throws { try stream.write(value, at: depth) }
}

private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let stream: JSONStreamEncoder
    let scope: Int
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    private func begin(_ key: some CodingKey) throws {
        try stream.proceed(in: scope, at: depth)
        stream.json.snakeCaseName(key.stringValue)
    }

    func encodeNil(forKey key: Key) throws {
        try begin(key)
        stream.json.null()
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try begin(key)
        stream.json.value(value)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try begin(key)
        stream.json.value(value)
    }

    func encode(_ value: Int, forKey key: Key) throws {
        try begin(key)
        stream.json.value(value)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try stream.proceed(in: scope, at: depth)
        try stream.write(value, for: key, at: depth)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        superEncoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        superEncoder(forKey: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nested("super") }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key.stringValue) }

    private func nested(_ name: String) -> ValueEncoder {
        stream.end(to: depth)
        stream.json.snakeCaseName(name)
        return ValueEncoder(stream: stream, depth: depth)
    }
}

private struct ArrayContainer: UnkeyedEncodingContainer {
    let stream: JSONStreamEncoder
    let scope: Int
    let depth: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(stream: JSONStreamEncoder, scope: Int, depth: Int) {
        self.stream = stream
        self.scope = scope
        self.depth = depth
    }

    mutating func encodeNil() throws {
        try stream.proceed(in: scope, at: depth)
        stream.json.null()
        count += 1
    }

    mutating func encode(_ value: some Encodable) throws {
        try stream.proceed(in: scope, at: depth)
        try stream.write(value, at: depth)
        count += 1
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nested() }

    private mutating func nested() -> ValueEncoder {
        stream.end(to: depth)
        count += 1
        return ValueEncoder(stream: stream, depth: depth)
    }
}
