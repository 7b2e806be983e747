extension [String] {
    /// The texts as a JSON array (RFC 8259), for `json_each`. A general encoder takes longer for it than the query.
    public var jsonArray: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(reduce(2) { $0 + $1.utf8.count + 3 })
        for text in self {
            bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
            Self.appendQuoted(text, to: &bytes)
        }
        if isEmpty { bytes.append(UInt8(ascii: "[")) }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        bytes.append(quote)
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == quote || $0 == backslash }) else {
            bytes.append(contentsOf: text.utf8)
            return bytes.append(quote)
        }
        for byte in text.utf8 {
            if byte < 0x20 {
                bytes.append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            } else {
                if byte == quote || byte == backslash { bytes.append(backslash) }
                bytes.append(byte)
            }
        }
        bytes.append(quote)
    }
}

extension Sequence where Element: BinaryInteger {
    /// The numbers as a JSON array, for `json_each` in SQL.
    public var jsonArray: String { "[" + map { String($0) }.joined(separator: ",") + "]" }
}
