/// The members of an object.
struct WireKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let members: WireValue.Members
    let lookups: WireEncoder.Lookups
    var codingPath: [any CodingKey] { [] }

    private func add(_ value: WireValue, _ key: some CodingKey) {
        members.set(lookups.nameOnWire(key.stringValue), value)
    }

    mutating func encodeNil(forKey key: Key) { add(.null, key) }
    mutating func encode(_ value: Bool, forKey key: Key) { add(.bool(value), key) }
    mutating func encode(_ value: String, forKey key: Key) { add(.string(value), key) }
    mutating func encode(_ value: Double, forKey key: Key) { add(.double(value), key) }
    mutating func encode(_ value: Float, forKey key: Key) { add(.float(value), key) }
    mutating func encode(_ value: Int, forKey key: Key) { add(.integer(Int64(value)), key) }
    mutating func encode(_ value: Int8, forKey key: Key) { add(.integer(Int64(value)), key) }
    mutating func encode(_ value: Int16, forKey key: Key) { add(.integer(Int64(value)), key) }
    mutating func encode(_ value: Int32, forKey key: Key) { add(.integer(Int64(value)), key) }
    mutating func encode(_ value: Int64, forKey key: Key) { add(.integer(value), key) }
    mutating func encode(_ value: UInt, forKey key: Key) { add(.unsigned(UInt64(value)), key) }
    mutating func encode(_ value: UInt8, forKey key: Key) { add(.unsigned(UInt64(value)), key) }
    mutating func encode(_ value: UInt16, forKey key: Key) { add(.unsigned(UInt64(value)), key) }
    mutating func encode(_ value: UInt32, forKey key: Key) { add(.unsigned(UInt64(value)), key) }
    mutating func encode(_ value: UInt64, forKey key: Key) { add(.unsigned(value), key) }
    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        add(try WireEncoder.wrap(value, lookups), key)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type, forKey key: Key)
        -> KeyedEncodingContainer<Nested>
    {
        let nested = WireValue.Members()
        add(.object(nested), key)
        return KeyedEncodingContainer(WireKeyedContainer<Nested>(members: nested, lookups: lookups))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let nested = WireValue.Elements()
        add(.array(nested), key)
        return WireUnkeyedContainer(elements: nested, lookups: lookups)
    }

    mutating func superEncoder() -> any Encoder { nestedEncoder("super") }
    mutating func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(lookups.nameOnWire(key.stringValue)) }

    private func nestedEncoder(_ name: String) -> WireEncoder {
        let nested = WireValue.Members()
        members.set(name, .object(nested))
        return WireEncoder(lookups: lookups, value: .object(nested))
    }
}

/// The elements of an array.
struct WireUnkeyedContainer: UnkeyedEncodingContainer {
    let elements: WireValue.Elements
    let lookups: WireEncoder.Lookups
    var codingPath: [any CodingKey] { [] }
    var count: Int { elements.values.count }

    private func add(_ value: WireValue) { elements.values.append(value) }

    mutating func encodeNil() { add(.null) }
    mutating func encode(_ value: String) { add(.string(value)) }
    mutating func encode<Value: Encodable>(_ value: Value) throws { add(try WireEncoder.wrap(value, lookups)) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        let nested = WireValue.Members()
        add(.object(nested))
        return KeyedEncodingContainer(WireKeyedContainer<Nested>(members: nested, lookups: lookups))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let nested = WireValue.Elements()
        add(.array(nested))
        return WireUnkeyedContainer(elements: nested, lookups: lookups)
    }

    mutating func superEncoder() -> any Encoder {
        let nested = WireValue.Members()
        add(.object(nested))
        return WireEncoder(lookups: lookups, value: .object(nested))
    }
}

/// A value that is no container.
struct WireSingleValueContainer: SingleValueEncodingContainer {
    let encoder: WireEncoder
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() { encoder.value = .null }
    mutating func encode(_ value: Bool) { encoder.value = .bool(value) }
    mutating func encode(_ value: String) { encoder.value = .string(value) }
    mutating func encode(_ value: Double) { encoder.value = .double(value) }
    mutating func encode(_ value: Float) { encoder.value = .float(value) }
    mutating func encode(_ value: Int) { encoder.value = .integer(Int64(value)) }
    mutating func encode(_ value: Int8) { encoder.value = .integer(Int64(value)) }
    mutating func encode(_ value: Int16) { encoder.value = .integer(Int64(value)) }
    mutating func encode(_ value: Int32) { encoder.value = .integer(Int64(value)) }
    mutating func encode(_ value: Int64) { encoder.value = .integer(value) }
    mutating func encode(_ value: UInt) { encoder.value = .unsigned(UInt64(value)) }
    mutating func encode(_ value: UInt8) { encoder.value = .unsigned(UInt64(value)) }
    mutating func encode(_ value: UInt16) { encoder.value = .unsigned(UInt64(value)) }
    mutating func encode(_ value: UInt32) { encoder.value = .unsigned(UInt64(value)) }
    mutating func encode(_ value: UInt64) { encoder.value = .unsigned(value) }
    mutating func encode<Value: Encodable>(_ value: Value) throws {
        encoder.value = try WireEncoder.wrap(value, encoder.lookups)
    }
}
