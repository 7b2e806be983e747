/// Reads the pieces of structured field values, by the algorithms of RFC 8941 §4.2. Each returns nil at the first
/// breach of syntax.
struct StructuredParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var isAtEnd: Bool { position == bytes.count }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func skipSpaces() {
        while next == 0x20 { position += 1 }
    }

    mutating func skipOptionalWhitespace() {
        while next == 0x20 || next == 0x09 { position += 1 }
    }

    private mutating func run(while accept: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = next, accept(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// §4.2.3.3: lower case only.
    mutating func key() -> String? {
        guard let first = next, Self.isLowercase(first) || first == UInt8(ascii: "*") else { return nil }
        return run { Self.isLowercase($0) || Self.isDigit($0) || $0 == 0x5F || $0 == 0x2D || $0 == 0x2E || $0 == 0x2A }
    }

    /// §4.2.3.2. False at a breach of syntax.
    mutating func parameters() -> Bool {
        while take(";") {
            skipSpaces()
            guard key() != nil else { return false }
            if take("="), item() == nil { return false }
        }
        return true
    }

    /// §4.2.1.1.
    mutating func itemOrInnerList() -> StructuredDictionary.Value? {
        guard take("(") else { return item() }
        while !isAtEnd {
            skipSpaces()
            if take(")") { return .other }
            guard item() != nil, parameters() else { return nil }
            guard next == 0x20 || next == UInt8(ascii: ")") else { return nil }
        }
        return nil
    }

    /// §4.2.3.1, without parameters.
    private mutating func item() -> StructuredDictionary.Value? {
        guard let first = next else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "?"): return boolean()
        case UInt8(ascii: ":"): return byteSequence()
        case UInt8(ascii: "-"): return number()
        case UInt8(ascii: "*"): return token()
        default: return Self.isDigit(first) ? number() : Self.isLetter(first) ? token() : nil
        }
    }

    /// §4.2.4: at most 15 digits, a decimal at most 12 before and 3 behind the point.
    private mutating func number() -> StructuredDictionary.Value? {
        let isNegative = take("-")
        let whole = run(while: Self.isDigit)
        guard !whole.isEmpty else { return nil }
        if take(".") {
            let fraction = run(while: Self.isDigit)
            return whole.utf8.count <= 12 && (1...3).contains(fraction.utf8.count) ? .other : nil
        }
        guard whole.utf8.count <= 15, let value = Int(whole) else { return nil }
        return .integer(isNegative ? -value : value)
    }

    /// §4.2.5.
    private mutating func string() -> StructuredDictionary.Value? {
        position += 1
        var value: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return .string(String(decoding: value, as: UTF8.self))
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    return nil
                }
                value.append(escaped)
                position += 1
            case 0x20...0x7E: value.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// §4.2.6.
    private mutating func token() -> StructuredDictionary.Value {
        .token(run { FieldList.isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
    }

    /// §4.2.7.
    private mutating func byteSequence() -> StructuredDictionary.Value? {
        position += 1
        _ = run {
            Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
                || $0 == UInt8(ascii: "=")
        }
        return take(":") ? .other : nil
    }

    /// §4.2.8.
    private mutating func boolean() -> StructuredDictionary.Value? {
        position += 1
        if take("1") { return .boolean(true) }
        return take("0") ? .boolean(false) : nil
    }

    private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        isLowercase(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
