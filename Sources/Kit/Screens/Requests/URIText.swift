/// Texts as parts of URI references (RFC 3986).
enum URIText {
    /// A text as a component: everything but unreserved characters is percent-encoded (§2.1, §2.3); commas, colons and
    /// slashes stay legible in a query (§3.4).
    static func component(_ text: String) -> String {
        encode(text) { isUnreserved($0) || legible.contains($0) }
    }

    /// A path as it came, with what is no URI character percent-encoded; what is encoded already stays.
    static func path(_ text: String) -> String {
        encode(text) { isUnreserved($0) || pathCharacters.contains($0) }
    }

    private static let legible = Set(",:/".utf8)
    private static let pathCharacters = Set("%/:@!$&'()*+,;=".utf8)

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || "-._~".utf8.contains(byte)
    }

    private static func encode(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        var result = ""
        for byte in text.utf8 {
            if isKept(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let hex = String(byte, radix: 16, uppercase: true)
                result += hex.count == 1 ? "%0\(hex)" : "%\(hex)"
            }
        }
        return result
    }
}
