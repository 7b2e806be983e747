package import Foundation

/// Converts values to bytes: JSON, UTF-8, snake_case, members in the order of their declaration, RFC 3339 UTC times.
/// Equal values give equal bytes, so a body can be hashed and stored.
package enum WireFormat {
    /// - Throws: `EncodingError`.
    package static func encode(_ value: some Encodable) throws -> Data {
        try JSONStreamEncoder.encode(value)
    }

    /// Returns RFC 3339 in UTC with whole seconds, such as `2026-01-05T10:00:00Z`.
    package static func timestamp(_ date: Date) -> String {
        guard let time = CivilTime(date) else { return date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt)) }
        return time.text("YYYY-MM-DDThh:mm:ssZ")
    }
}

/// An optional that is written as `null` if it is nil. Swift leaves a plain optional out.
///
/// A field of the contract is always there, so that front ends need not distinguish an absent field from an empty one.
@propertyWrapper @usableFromInline
package struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    @usableFromInline package var wrappedValue: Value?

    @inlinable
    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    @usableFromInline
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension Nullable: Equatable where Value: Equatable {}

// Synthesized `encode(to:)` chooses these before the standard library's. Most members of lists have one of these types,
// and the generic way takes twice the instructions: metadata of optionals, and a container for each value. The compiler
// chooses by static types. Within the generic `Nullable<Value>` the value's own `encode` is the generic one, so strings
// have an overload of their own; an encoder's own `encodeIfPresent` is never called.
extension KeyedEncodingContainer {
    @inlinable
    package mutating func encode<Value>(_ value: Nullable<Value>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    @inlinable
    package mutating func encode(_ value: Nullable<String>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    @inlinable
    package mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }

    package mutating func encode(_ text: Text, forKey key: Key) throws {
        try encode(text[Language.current], forKey: key)
    }

    package mutating func encode(_ link: Link, forKey key: Key) throws {
        try encode(link.requestTarget, forKey: key)
    }
}

/// Writes JSON into memory: UTF-8, without spaces, in the order of the calls.
///
/// Separators follow from the last byte, so there is no state but the bytes.
struct JSONWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var capacity: Int
    /// The language of texts.
    let language = Language.current
    let profile = Link.Profile.current

    init(capacity: Int = 8192) {
        self.capacity = capacity
        start = .allocate(capacity: capacity)
    }

    deinit { start.deallocate() }

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    mutating func beginObject() { begin(UInt8(ascii: "{")) }

    mutating func endObject() { append(UInt8(ascii: "}")) }

    mutating func beginArray() { begin(UInt8(ascii: "[")) }

    mutating func endArray() { append(UInt8(ascii: "]")) }

    /// Begins a member; its value follows.
    mutating func name(_ name: String) {
        value(name)
        append(UInt8(ascii: ":"))
    }

    /// Begins a member whose name in Swift is `homePortText` and in JSON `home_port_text`; its value follows.
    ///
    /// A word begins with an upper-case letter after anything else, and with the last of several before a lower-case
    /// one: `imageURLText` is `image_url_text`. Names begin with a small letter, as Swift's do, and need no escapes.
    mutating func snakeCaseName(_ name: String) {
        separate()
        name.withBytes { utf8 in
            reserve(2 * utf8.count + 3)
            var end = count
            func put(_ byte: UInt8) {
                start[end] = byte
                end += 1
            }
            put(UInt8(ascii: "\""))
            for (index, byte) in utf8.enumerated() {
                guard byte.isUpper else {
                    put(byte)
                    continue
                }
                let follows = index > 0 && !utf8[index - 1].isUpper
                let precedes = index > 0 && index + 1 < utf8.count && utf8[index + 1].isLower
                if follows || precedes { put(UInt8(ascii: "_")) }
                put(byte | 0x20)
            }
            put(UInt8(ascii: "\""))
            put(UInt8(ascii: ":"))
            count = end
        }
    }

    /// Writes `null`, `true`, `false` or a number.
    mutating func word(_ word: String) {
        separate()
        word.withBytes { append($0) }
    }

    mutating func value(_ text: String) {
        separate()
        text.withBytes { utf8 in
            if JSONEscapes.areNeeded(in: utf8) { appendEscaped(utf8) } else { appendQuoted(utf8) }
        }
    }

    /// Writes a comma if something precedes.
    private mutating func separate() {
        guard count > 0 else { return }
        switch start[count - 1] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default: append(UInt8(ascii: ","))
        }
    }

    private mutating func begin(_ byte: UInt8) {
        separate()
        append(byte)
    }

    private mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + count).update(from: base, count: bytes.count)
        count += bytes.count
    }

    private mutating func appendQuoted(_ bytes: UnsafeBufferPointer<UInt8>) {
        reserve(bytes.count + 2)
        start[count] = UInt8(ascii: "\"")
        if let base = bytes.baseAddress { (start + count + 1).update(from: base, count: bytes.count) }
        count += bytes.count + 2
        start[count - 1] = UInt8(ascii: "\"")
    }

    private mutating func appendEscaped(_ utf8: UnsafeBufferPointer<UInt8>) {
        append(UInt8(ascii: "\""))
        for byte in utf8 {
            if let escape = JSONEscapes.escape(of: byte) { escape.withBytes { append($0) } } else { append(byte) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = 2 * (count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }
}

extension String {
    /// Calls a function with the UTF-8 bytes, which are not copied if they are contiguous in memory.
    fileprivate func withBytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if utf8.withContiguousStorageIfAvailable(body) == nil {
            var copy = self
            copy.withUTF8(body)
        }
    }
}

// Values of the types that screens have, in the form of WireFormat.
extension JSONWriter {
    mutating func null() { word("null") }

    mutating func value(_ value: Bool) { word(value ? "true" : "false") }

    mutating func value(_ value: some BinaryInteger) { word(String(value)) }

    /// Writes a number in the shortest digits that identify it; a whole number needs no fraction.
    ///
    /// - Throws: `EncodingError` for infinity and NaN.
    mutating func value(_ value: some BinaryFloatingPoint & LosslessStringConvertible) throws {
        guard value.isFinite else { throw EncodingError.invalidValue(value, .notJSON(value)) }
        let digits = value.description
        word(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
    }

    /// Writes a decimal, digit for digit.
    ///
    /// - Throws: `EncodingError` for no number.
    mutating func value(_ value: Decimal) throws {
        guard value.isFinite else { throw EncodingError.invalidValue(value, .notJSON(value)) }
        word(value.description)
    }
}

extension EncodingError.Context {
    fileprivate static func notJSON(_ number: some CustomStringConvertible) -> Self {
        Self(codingPath: [], debugDescription: "JSON has no \(number).")
    }
}

/// Which characters of a JSON text are escaped, and how (RFC 8259 §7). A slash is not.
enum JSONEscapes {
    /// Whether a text has such a character. The loop computes a sum instead of searching, so that it processes many
    /// bytes at a time.
    static func areNeeded(in utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in utf8 { found |= isNeeded(byte) ? 1 : 0 }
        return found > 0
    }

    /// Returns the escape of a byte; nil if it needs none.
    static func escape(of byte: UInt8) -> String? {
        guard isNeeded(byte) else { return nil }
        switch byte {
        case 0x08: return "\\b"
        case 0x09: return "\\t"
        case 0x0A: return "\\n"
        case 0x0C: return "\\f"
        case 0x0D: return "\\r"
        case ..<0x20: return "\\u00" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        default: return "\\" + String(Unicode.Scalar(byte))
        }
    }

    private static func isNeeded(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}

extension UInt8 {
    fileprivate var isUpper: Bool { (0x41...0x5A).contains(self) }
    fileprivate var isLower: Bool { (0x61...0x7A).contains(self) }
}
