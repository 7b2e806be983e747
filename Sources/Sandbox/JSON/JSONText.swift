/// The white space of JSON texts: everything else stays as it is spelled.
enum JSONText {
    /// Follows a text from byte to byte.
    private struct Place {
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
    /// - Parameter text: Valid JSON.
    static func indented(_ text: [UInt8]) -> [UInt8] {
        let tokens = compact(text)
        var (result, depth, place) = ([UInt8](), 0, Place())
        result.reserveCapacity(text.count * 2)
        func newLine() {
            result.append(UInt8(ascii: "\n"))
            result += repeatElement(UInt8(ascii: " "), count: depth * 2)
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
                // The closing bracket is the second character behind the opening one.
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
    static func compact(_ text: [UInt8]) -> [UInt8] {
        var place = Place()
        return text.filter { byte in
            place.pass(byte) || (byte != 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D)
        }
    }
}
