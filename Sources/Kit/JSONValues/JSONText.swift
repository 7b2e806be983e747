/// The white space of JSON texts: everything else keeps its spelling.
package enum JSONText {
    /// Follows a text from byte to byte.
    private struct Scanner {
        private(set) var isInString = false
        private var isEscaped = false

        /// Returns whether a byte belongs to a string.
        mutating func pass(_ byte: UInt8) -> Bool {
            guard isInString else {
                isInString = byte == UInt8(ascii: "\"")
                return isInString
            }
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return true
        }
    }

    /// Returns a JSON text on many lines, for people.
    ///
    /// - Parameters:
    ///   - text: Valid JSON.
    ///   - width: Spaces of each level.
    package static func indented(_ text: [UInt8], by width: Int = 2) -> [UInt8] {
        let tokens = compact(text)
        var (result, depth, place) = ([UInt8](), 0, Scanner())
        result.reserveCapacity(text.count * 2)
        func newLine() {
            result.append(UInt8(ascii: "\n"))
            result += repeatElement(UInt8(ascii: " "), count: depth * width)
        }
        for (index, byte) in tokens.enumerated() {
            if place.pass(byte) {
                result.append(byte)
                continue
            }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                result.append(byte)
                depth += 1
                // The closing bracket is the second character after the opening one.
                if index + 1 < tokens.count, tokens[index + 1] != byte + 2 { newLine() }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if index > 0, tokens[index - 1] != byte - 2 { newLine() }
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                newLine()
            case UInt8(ascii: ":"): result += ": ".utf8
            default: result.append(byte)
            }
        }
        return result
    }

    /// Returns a JSON text without white space between its tokens.
    package static func compact(_ text: [UInt8]) -> [UInt8] {
        var place = Scanner()
        return text.filter { byte in
            place.pass(byte) || (byte != 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D)
        }
    }
}

extension JSONValue {
    /// Reads a text of JSON; nil if it is none.
    package init?(json text: some Sequence<UInt8>) {
        guard let value = try? JSONParser.parse(Array(text)) else { return nil }
        self = value
    }

    /// The value as compact JSON.
    package var json: String { String(decoding: serialized(), as: UTF8.self) }

    /// The beginning of its text, as messages show it.
    package var excerpt: String { String(decoding: serialized().prefix(60), as: UTF8.self) }

    /// The value as compact JSON, spelled as `JSON.stringify` spells it; the same value gives the same bytes.
    package func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let spelling): bytes += spelling.utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0..<0x20: bytes += ((byte < 0x10 ? #"\u000"# : #"\u00"#) + String(byte, radix: 16)).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
