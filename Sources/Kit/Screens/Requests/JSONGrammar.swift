import HTTPSemantics

/// The grammar of the JSON texts that clients send (RFC 8259), without what two readers may read in two ways: they are
/// UTF-8, and no object has two members of one name (RFC 7493 §2.1, §2.3).
///
/// `JSONDecoder` accepts more: a comma behind the last member, UTF-16, and the first of two members.
struct JSONGrammar {
    /// What is wrong with a text.
    enum Defect: Error, Equatable {
        /// It is no JSON, or deeper than ``deepest``.
        case malformed
        /// An object has two members of this name.
        case repeatedName(String)
    }

    /// Most arrays and objects within each other.
    static let deepest = 128

    private let bytes: [UInt8]
    private var index = 0

    /// Checks a text. A byte order mark at its beginning is ignored (RFC 8259 §8.1).
    ///
    /// - Throws: ``Defect``.
    static func check(_ text: some Sequence<UInt8>) throws(Defect) {
        var grammar = JSONGrammar(bytes: Array(text))
        if grammar.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { grammar.index = 3 }
        try grammar.value(depth: 0)
        guard grammar.index == grammar.bytes.count else { throw .malformed }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func value(depth: Int) throws(Defect) {
        guard depth <= Self.deepest else { throw .malformed }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try object(depth: depth + 1)
        case UInt8(ascii: "["): try array(depth: depth + 1)
        case UInt8(ascii: "\""): _ = try string()
        default: try scalar()
        }
        skipSpace()
    }

    private mutating func object(depth: Int) throws(Defect) {
        index += 1
        skipSpace()
        if take("}") { return }
        var names: Set<String> = []
        repeat {
            skipSpace()
            let name = try string()
            guard names.insert(name).inserted else { throw .repeatedName(name) }
            skipSpace()
            guard take(":") else { throw .malformed }
            try value(depth: depth)
        } while take(",")
        guard take("}") else { throw .malformed }
    }

    private mutating func array(depth: Int) throws(Defect) {
        index += 1
        skipSpace()
        if take("]") { return }
        repeat { try value(depth: depth) } while take(",")
        guard take("]") else { throw .malformed }
    }

    /// Reads a string.
    ///
    /// - Returns: Its text; invalid UTF-8 is replaced, and refused by the decoder.
    private mutating func string() throws(Defect) -> String {
        guard take("\"") else { throw .malformed }
        let start = index
        var units: [UInt16]?
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw .malformed }
            if byte == UInt8(ascii: "\\") {
                if units == nil { units = Array(String(decoding: bytes[start..<index], as: UTF8.self).utf16) }
                units?.append(try escape())
            } else {
                let plain = bytes[index...].prefix {
                    $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"") && $0 >= 0x20
                }
                units?.append(contentsOf: String(decoding: plain, as: UTF8.self).utf16)
                index = plain.endIndex
            }
        }
        let text = units.map { String(decoding: $0, as: UTF16.self) }
        let plain = text ?? String(decoding: bytes[start..<index], as: UTF8.self)
        guard take("\"") else { throw .malformed }
        return plain
    }
}

extension JSONGrammar {
    /// The next byte; nil at the end.
    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Skips a character if it is next.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    /// Reads an escape sequence: one code unit of UTF-16.
    private mutating func escape() throws(Defect) -> UInt16 {
        index += 1
        guard let byte = next else { throw .malformed }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(byte)
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"):
            let digits = bytes[index...].prefix(4)
            guard digits.count == 4, digits.allSatisfy({ PercentEncoding.hexadecimalValue(of: $0) != nil }),
                let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw .malformed }
            index += 4
            return unit
        default: throw .malformed
        }
    }

    /// Skips a number, `true`, `false` or `null`. The decoder reads its characters; none of them ends a value.
    private mutating func scalar() throws(Defect) {
        let start = index
        while let byte = next, ASCIISet.unreserved.contains(byte) || byte == UInt8(ascii: "+") { index += 1 }
        guard index > start else { throw .malformed }
    }
}
