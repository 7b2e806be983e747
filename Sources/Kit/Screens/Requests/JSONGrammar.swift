import HTTPSemantics

/// The grammar of the JSON texts that clients send (RFC 8259), without forms that two readers may read in two ways:
/// they are UTF-8, and no object has two members of one name (RFC 7493 §2.1, §2.3).
///
/// `JSONDecoder` accepts more: a comma behind the last member, UTF-16, and the first of two members; and does not tell
/// where a text is wrong.
struct JSONGrammar {
    /// A syntax error and its position.
    struct Defect: Error, Equatable {
        enum Reason: Equatable {
            /// It is no JSON.
            case malformed
            /// It is deeper than ``JSONGrammar/deepest``.
            case tooDeep
            /// A number is larger than a double can be.
            case number
            /// An object has two members of this name.
            case repeatedName(String)
        }

        let reason: Reason
        /// The line, from 1.
        let line: Int
        /// The character of the line, from 1.
        let column: Int
        /// The JSON pointer (RFC 6901) of the value that is wrong, or that the text breaks off in.
        let pointer: String
    }

    /// Most arrays and objects within each other.
    static let deepest = 128

    let bytes: [UInt8]
    var index = 0
    /// The members and items that the next value is in.
    private var path: [String] = []

    /// Checks a text. A byte order mark at its beginning is ignored (RFC 8259 §8.1).
    ///
    /// - Throws: ``Defect``.
    static func check(_ text: some Sequence<UInt8>) throws(Defect) {
        var grammar = JSONGrammar(bytes: Array(text))
        if grammar.bytes.starts(with: byteOrderMark) { grammar.index = byteOrderMark.count }
        try grammar.value()
        guard grammar.index == grammar.bytes.count else { throw grammar.defect() }
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func value() throws(Defect) {
        guard path.count <= Self.deepest else { throw defect(.tooDeep) }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): _ = try string()
        default: try scalar()
        }
        skipSpace()
    }

    private mutating func object() throws(Defect) {
        index += 1
        skipSpace()
        if take("}") { return }
        var names: Set<String> = []
        repeat {
            skipSpace()
            let start = index
            let name = try string()
            path.append(name)
            guard names.insert(name).inserted else { throw defect(.repeatedName(name), at: start) }
            skipSpace()
            guard take(":") else { throw defect() }
            try value()
            path.removeLast()
        } while take(",")
        guard take("}") else { throw defect() }
    }

    private mutating func array() throws(Defect) {
        index += 1
        skipSpace()
        if take("]") { return }
        var count = 0
        repeat {
            path.append(String(count))
            try value()
            path.removeLast()
            count += 1
        } while take(",")
        guard take("]") else { throw defect() }
    }

    /// Reads a string.
    ///
    /// - Returns: Its text.
    private mutating func string() throws(Defect) -> String {
        let quote = index
        guard take("\"") else { throw defect() }
        var units: [UInt16]?
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw defect() }
            if byte == UInt8(ascii: "\\") {
                if units == nil { units = try Array(text(from: quote + 1).utf16) }
                units?.append(try escape())
            } else {
                let start = index
                index = bytes[index...].firstIndex { $0 == 0x5C || $0 == 0x22 || $0 < 0x20 } ?? bytes.endIndex
                if units != nil { units?.append(contentsOf: try text(from: start).utf16) }
            }
        }
        guard next != nil else { throw defect() }
        guard let units else {
            let whole = try text(from: quote + 1)
            index += 1
            return whole
        }
        index += 1
        // Half of a surrogate pair is no character.
        guard let whole = String(validating: units, as: UTF16.self) else { throw defect(at: quote) }
        return whole
    }

    /// Returns the text since a position.
    private func text(from start: Int) throws(Defect) -> String {
        guard let text = String(validating: bytes[start..<index], as: UTF8.self) else { throw defect(at: start) }
        return text
    }

    func defect(_ reason: Defect.Reason = .malformed, at place: Int? = nil) -> Defect {
        let before = bytes.prefix(place ?? index)
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let mark = start == 0 && before.starts(with: Self.byteOrderMark) ? 1 : 0
        return Defect(
            reason: reason,
            line: 1 + before.count { $0 == UInt8(ascii: "\n") },
            column: 1 - mark + String(decoding: before[start...], as: UTF8.self).unicodeScalars.count,
            pointer: path.map { "/" + JSONPointer.token($0) }.joined()
        )
    }
}

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

/// JSON pointers (RFC 6901) into the bodies that clients send.
enum JSONPointer {
    /// Returns a name as part of a pointer, as long as a message may have it.
    static func token(_ name: String) -> String {
        UploadedForm.legible(name).replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
