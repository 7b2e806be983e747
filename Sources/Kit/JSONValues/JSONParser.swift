/// A syntax error of a JSON text and its position.
package struct JSONSyntaxError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable, CustomStringConvertible {
        case malformed
        /// It is deeper than ``JSONParser/maximumDepth``.
        case tooDeep
        /// A number is larger than a double can be.
        case number
        /// An object has two members of this name.
        case repeatedName(String)

        package var description: String {
            switch self {
            case .malformed: "a character that JSON does not have there"
            case .tooDeep: "nested deeper than \(JSONParser.maximumDepth)"
            case .number: "a number that is too large"
            case .repeatedName(let name): "two members named \(name)"
            }
        }
    }

    package let reason: Reason
    /// The line, from 1.
    package let line: Int
    /// The character of the line, from 1.
    package let column: Int
    /// The value that is wrong, or that the text breaks off in.
    package let pointer: JSONPointer

    package var description: String { "\(reason) at line \(line), column \(column)" }
}

/// A strict parser of JSON texts (RFC 8259) in UTF-8.
///
/// `JSONDecoder` accepts more: a comma after the last member, UTF-16, and the first of two members; and does not tell
/// where a text is wrong.
package struct JSONParser {
    /// Most arrays and objects within each other, so that no text can exhaust the stack.
    package static let maximumDepth = 128

    /// The forms of RFC 8259 that two readers may read in two ways.
    package enum Profile: Sendable {
        /// All of RFC 8259. Of members of one name the last is read, as by `JSON.parse`.
        case any
        /// I-JSON (RFC 7493 §2): names are unique and numbers are doubles. A byte order mark at the beginning is
        /// ignored (RFC 8259 §8.1).
        case interoperable
    }

    private let bytes: [UInt8]
    private let profile: Profile
    private var index = 0
    /// The members and items that the next value is in.
    private var path: [String] = []

    /// Reads a text.
    ///
    /// - Throws: ``JSONSyntaxError``.
    package static func parse(_ bytes: [UInt8], _ profile: Profile = .any) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes: bytes, profile: profile)
        if profile == .interoperable, bytes.starts(with: byteOrderMark) { parser.index = byteOrderMark.count }
        let value = try parser.value()
        guard parser.index == bytes.count else { throw parser.defect() }
        return value
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private init(bytes: [UInt8], profile: Profile) { (self.bytes, self.profile) = (bytes, profile) }

    private mutating func value() throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        let value: JSONValue
        switch next {
        case UInt8(ascii: "{"): value = .object(try object())
        case UInt8(ascii: "["): value = .array(try array())
        case UInt8(ascii: "\""): value = .string(try string())
        default: value = try scalar()
        }
        skipSpace()
        return value
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONObject {
        try open()
        var object = JSONObject()
        if take("}") { return object }
        var names: Set<String> = []
        repeat {
            skipSpace()
            let start = index
            let name = try string()
            path.append(name)
            if profile == .interoperable, !names.insert(name).inserted {
                throw defect(.repeatedName(name), at: start)
            }
            skipSpace()
            guard take(":") else { throw defect() }
            object.members.append(.init(name: name, value: try value()))
            path.removeLast()
        } while take(",")
        guard take("}") else { throw defect() }
        return object
    }

    private mutating func array() throws(JSONSyntaxError) -> [JSONValue] {
        try open()
        var values: [JSONValue] = []
        if take("]") { return values }
        repeat {
            path.append(String(values.count))
            values.append(try value())
            path.removeLast()
        } while take(",")
        guard take("]") else { throw defect() }
        return values
    }

    /// Skips the bracket of an array or object.
    private mutating func open() throws(JSONSyntaxError) {
        guard path.count < Self.maximumDepth else { throw defect(.tooDeep) }
        index += 1
        skipSpace()
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
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
    private func text(from start: Int) throws(JSONSyntaxError) -> String {
        guard let text = String(validating: bytes[start..<index], as: UTF8.self) else { throw defect(at: start) }
        return text
    }

    /// Reads an escape sequence: one code unit of UTF-16.
    private mutating func escape() throws(JSONSyntaxError) -> UInt16 {
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
            guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw defect() }
            index += 4
            return unit
        default: throw defect(at: index - 1)
        }
    }

    /// Reads a number, `true`, `false` or `null`.
    private mutating func scalar() throws(JSONSyntaxError) -> JSONValue {
        let start = index
        while let byte = next, Self.isOfWord(byte) { index += 1 }
        let word = String(decoding: bytes[start..<index], as: UTF8.self)
        switch word {
        case "true": return true
        case "false": return false
        case "null": return .null
        default: break
        }
        guard Self.isNumber(bytes[start..<index]) else { throw defect(at: start) }
        if profile == .interoperable {
            guard let number = Double(word), number.isFinite else { throw defect(.number, at: start) }
        }
        return .number(word)
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): true
        default: false
        }
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

    /// The next byte; nil at the end.
    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Skips a character if it is next.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private func defect(_ reason: JSONSyntaxError.Reason = .malformed, at place: Int? = nil) -> JSONSyntaxError {
        let before = bytes.prefix(place ?? index)
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let mark = start == 0 && before.starts(with: Self.byteOrderMark) ? 1 : 0
        return JSONSyntaxError(
            reason: reason,
            line: 1 + before.count { $0 == UInt8(ascii: "\n") },
            column: 1 - mark + String(decoding: before[start...], as: UTF8.self).unicodeScalars.count,
            pointer: JSONPointer(tokens: path)
        )
    }
}
