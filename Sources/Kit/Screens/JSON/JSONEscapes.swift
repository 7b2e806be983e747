/// Which characters of a JSON text are escaped, and how (RFC 8259 §7). A slash is not.
enum JSONEscapes {
    /// Whether a text has such a character. A sum, and not a search, so that the loop looks at many bytes at a time.
    static func areNeeded(in utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in utf8 { found |= isNeeded(byte) ? 1 : 0 }
        return found > 0
    }

    /// Returns what is written in place of a byte; nil for the byte itself.
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
