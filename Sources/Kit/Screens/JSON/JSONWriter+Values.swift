package import Foundation

// Values of the types that screens have, in the form of WireFormat.
extension JSONWriter {
    /// Writes `null`.
    package mutating func null() { word("null") }

    /// Writes a Boolean.
    package mutating func value(_ value: Bool) { word(value ? "true" : "false") }

    /// Writes an integer.
    package mutating func value(_ value: some BinaryInteger) { word(String(value)) }

    /// Writes a number in the shortest digits that identify it; a whole number needs no fraction.
    ///
    /// - Throws: `EncodingError` for what JSON has no number for.
    package mutating func value(_ value: some BinaryFloatingPoint & LosslessStringConvertible) throws {
        guard value.isFinite else { throw EncodingError.invalidValue(value, .notJSON(value)) }
        let digits = value.description
        word(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
    }

    /// Writes a decimal, digit for digit.
    ///
    /// - Throws: `EncodingError` for no number.
    package mutating func value(_ value: Decimal) throws {
        guard value.isFinite else { throw EncodingError.invalidValue(value, .notJSON(value)) }
        word(value.description)
    }

    /// Writes a time as ``WireFormat/timestamp(_:)``.
    package mutating func value(_ value: Date) { self.value(WireFormat.timestamp(value)) }

    /// Writes texts.
    package mutating func value(_ texts: [String]) {
        beginArray()
        for index in texts.indices { value(texts[index]) }
        endArray()
    }

    /// Writes values. By index: a loop over the values would copy each of them.
    ///
    /// - Throws: `EncodingError`.
    package mutating func value(_ values: [some JSONWritable]) throws {
        beginArray()
        for index in values.indices { try values[index].write(to: &self) }
        endArray()
    }
}

// Members, with null for a nil.
extension JSONWriter {
    /// Writes a member.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        self.value(value)
    }

    /// Writes a member.
    package mutating func member(_ name: StaticString, _ value: Int?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member.
    package mutating func member(_ name: StaticString, _ value: String?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member.
    package mutating func member(_ name: StaticString, _ value: Date?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member.
    ///
    /// - Throws: `EncodingError` for no number.
    package mutating func member(_ name: StaticString, _ value: Double?) throws {
        self.name(name)
        if let value { try self.value(value) } else { null() }
    }

    /// Writes a member.
    package mutating func member(_ name: StaticString, _ texts: [String]) {
        self.name(name)
        value(texts)
    }

    /// Writes a member.
    ///
    /// - Throws: `EncodingError` for a value that JSON has no form for.
    package mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) throws {
        self.name(name)
        if let value { try value.write(to: &self) } else { null() }
    }

    /// Writes a member.
    ///
    /// - Throws: `EncodingError` for a value that JSON has no form for.
    package mutating func member(_ name: StaticString, _ values: [some JSONWritable]) throws {
        self.name(name)
        try value(values)
    }
}

extension EncodingError.Context {
    fileprivate static func notJSON(_ number: some CustomStringConvertible) -> Self {
        Self(codingPath: [], debugDescription: "JSON has no \(number).")
    }
}
