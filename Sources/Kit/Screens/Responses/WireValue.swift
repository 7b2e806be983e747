/// A JSON value.
enum WireValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    /// A number with a fraction or an exponent, in the shortest digits that identify it.
    case number(String)
    case string(String)
    case array(Elements)
    case object(Members)

    /// An array that is being filled.
    final class Elements {
        var values: [WireValue] = []
    }

    /// An object that is being filled. Names are in their form on the wire.
    final class Members {
        /// Sorted by name, without duplicates.
        private(set) var values: [(name: String, value: WireValue)] = []

        init() { values.reserveCapacity(8) }

        /// Adds a member, replacing one of the same name.
        func set(_ name: String, _ value: WireValue) {
            var index = values.endIndex
            while index > 0, name < values[index - 1].name { index -= 1 }
            if index > 0, values[index - 1].name == name {
                values[index - 1].value = value
            } else {
                values.insert((name, value), at: index)
            }
        }
    }
}

extension WireValue {
    /// Appends the value as JSON.
    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
        case .integer(let value): bytes.append(contentsOf: value.description.utf8)
        case .unsigned(let value): bytes.append(contentsOf: value.description.utf8)
        // A whole number needs no fraction.
        case .number(let digits):
            bytes.append(contentsOf: digits.hasSuffix(".0") ? digits.dropLast(2).utf8 : digits[...].utf8)
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let array):
            var separator = UInt8(ascii: "[")
            for value in array.values {
                bytes.append(separator)
                value.write(to: &bytes)
                separator = UInt8(ascii: ",")
            }
            if array.values.isEmpty { bytes.append(separator) }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            var separator = UInt8(ascii: "{")
            for member in object.values {
                bytes.append(separator)
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
                separator = UInt8(ascii: ",")
            }
            if object.values.isEmpty { bytes.append(separator) }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var written = 0
            for index in utf8.indices
            where utf8[index] < 0x20 || utf8[index] == UInt8(ascii: "\"") || utf8[index] == UInt8(ascii: "\\") {
                bytes.append(contentsOf: utf8[written..<index])
                written = index + 1
                escape(utf8[index], to: &bytes)
            }
            bytes.append(contentsOf: utf8[written...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case ..<0x10: bytes.append(contentsOf: "u000\(String(byte, radix: 16))".utf8)
        case ..<0x20: bytes.append(contentsOf: "u00\(String(byte, radix: 16))".utf8)
        default: bytes.append(byte)
        }
    }
}
