/// Position and reason of a JSON syntax error.
package struct JSONSyntaxError: Error, Equatable, CustomStringConvertible {
    /// Byte offset from the beginning of the text.
    package let offset: Int
    package let reason: String

    package var description: String { "\(reason) at byte \(offset)" }
}

/// A strict RFC 8259 parser.
package struct JSONParser {
    /// Deeper nesting than this is refused, so that no request can exhaust the stack.
    static let maximumDepth = 128

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    package static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes)
        let value = try parser.value()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.error("something follows the value") }
        return value
    }

    private func error(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(offset: position, reason: reason) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private mutating func take(_ expected: Character) throws(JSONSyntaxError) {
        guard next == expected.asciiValue else { throw error("'\(expected)' expected") }
        position += 1
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONSyntaxError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONSyntaxError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case .none: throw error("the text ends too early")
        default: return .number(try number())
        }
    }

    private mutating func nested(_ body: (inout JSONParser) throws(JSONSyntaxError) -> JSONValue)
        throws(JSONSyntaxError) -> JSONValue
    {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth)") }
        return try body(&self)
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual(text.description.utf8) else {
            throw error("no JSON value")
        }
        position = end
        return value
    }

    private mutating func array() throws(JSONSyntaxError) -> JSONValue {
        try take("[")
        skipSpace()
        var values: [JSONValue] = []
        if next != UInt8(ascii: "]") {
            values.append(try value())
            skipSpace()
            while next == UInt8(ascii: ",") {
                position += 1
                values.append(try value())
                skipSpace()
            }
        }
        try take("]")
        return .array(values)
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONValue {
        try take("{")
        skipSpace()
        var object = JSONObject()
        if next != UInt8(ascii: "}") {
            object.members.append(try member())
            while next == UInt8(ascii: ",") {
                position += 1
                object.members.append(try member())
            }
        }
        try take("}")
        return .object(object)
    }

    private mutating func member() throws(JSONSyntaxError) -> JSONObject.Member {
        skipSpace()
        let name = try string()
        skipSpace()
        try take(":")
        let value = try value()
        skipSpace()
        return .init(name: name, value: value)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw error("digit expected") }
    }

    private mutating func number() throws(JSONSyntaxError) -> String {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        if next == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        try take("\"")
        var text: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw error("the string before is not UTF-8")
                }
                position += 1
                return string
            case UInt8(ascii: "\\"):
                position += 1
                text += try escaped()
            case 0..<0x20: throw error("control character in a string")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw error("the string does not end")
    }

    private mutating func escaped() throws(JSONSyntaxError) -> [UInt8] {
        guard let byte = next else { throw error("the string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try scalar()
        default: throw error("unknown escape")
        }
    }

    private mutating func scalar() throws(JSONSyntaxError) -> [UInt8] {
        var code = try fourHexDigits()
        if (0xD800..<0xDC00).contains(code), next == UInt8(ascii: "\\") {
            position += 1
            try take("u")
            let low = try fourHexDigits()
            guard (0xDC00..<0xE000).contains(low) else { throw error("lone surrogate") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("lone surrogate") }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func fourHexDigits() throws(JSONSyntaxError) -> UInt32 {
        let end = position + 4
        guard end <= bytes.count, bytes[position..<end].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits expected") }
        position = end
        return code
    }
}
