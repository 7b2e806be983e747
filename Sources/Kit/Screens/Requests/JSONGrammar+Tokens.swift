import HTTPSemantics

extension JSONGrammar {
    /// The next byte; nil at the end.
    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Skips a character if it is next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    /// Reads an escape sequence: one code unit of UTF-16.
    mutating func escape() throws(Defect) -> UInt16 {
        index += 1
        guard let byte = next else { throw defect() }
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
            else { throw defect() }
            index += 4
            return unit
        default: throw defect(at: index - 1)
        }
    }

    /// Skips a number, `true`, `false` or `null`.
    mutating func scalar() throws(Defect) {
        let start = index
        while let byte = next, ASCIISet.unreserved.contains(byte) || byte == UInt8(ascii: "+") { index += 1 }
        let word = String(decoding: bytes[start..<index], as: UTF8.self)
        if word == "true" || word == "false" || word == "null" { return }
        guard Self.isNumber(bytes[start..<index]) else { throw defect(at: start) }
        guard let number = Double(word), number.isFinite else { throw defect(.number, at: start) }
    }

    /// Whether this is a number (RFC 8259 §6).
    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        func digits(_ rest: inout ArraySlice<UInt8>) -> Int {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let isZero = rest.first == UInt8(ascii: "0")
        let whole = digits(&rest)
        guard whole == 1 || (whole > 1 && !isZero) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits(&rest) > 0 else { return false }
        }
        if let byte = rest.first, byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits(&rest) > 0 else { return false }
        }
        return rest.isEmpty
    }
}
