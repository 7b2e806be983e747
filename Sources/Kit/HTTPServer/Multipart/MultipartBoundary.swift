/// The boundary that a `Content-Type: multipart/form-data` names (RFC 2046 §5.1.1).
public struct MultipartBoundary: Sendable, Equatable {
    /// Its characters.
    let bytes: [UInt8]

    /// Reads the value of a `Content-Type` field.
    public init(contentType: String?) throws(MultipartError) {
        guard let value = ParameterizedValue(contentType ?? ""), value.value == "multipart/form-data" else {
            throw .otherType(String((contentType ?? "").prefix { $0 != ";" }).trimmedOfSpaces)
        }
        let bytes = Array((value.parameters["boundary"] ?? "").utf8)
        guard (1...70).contains(bytes.count), bytes.allSatisfy(Self.isAllowed), bytes.last != UInt8(ascii: " ") else {
            throw .badBoundary
        }
        self.bytes = bytes
    }

    /// `bchars`
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || "'()+_,-./:=? ".utf8.contains(byte)
    }
}
