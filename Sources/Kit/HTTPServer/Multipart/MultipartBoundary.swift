import HTTPSemantics

/// The boundary that a `Content-Type: multipart/form-data` names (RFC 2046 §5.1.1).
public struct MultipartBoundary: Sendable, Equatable {
    /// Its characters.
    let bytes: [UInt8]

    /// Reads the value of a `Content-Type` field.
    ///
    /// - Throws: `otherType`, `badBoundary`.
    public init(contentType: String?) throws(MultipartError) {
        guard let value = ParameterizedValue(contentType ?? ""), value.value == "multipart/form-data" else {
            throw .otherType(String(FieldList.trim((contentType ?? "").prefix { $0 != ";" })))
        }
        let bytes = Array((value.parameters["boundary"] ?? "").utf8)
        guard (1...70).contains(bytes.count), bytes.allSatisfy(Self.isAllowed), bytes.last != UInt8(ascii: " ") else {
            throw .badBoundary
        }
        self.bytes = bytes
    }

    /// Returns whether the byte is one of `bchars`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        ASCIISet.alphanumerics.contains(byte) || "'()+_,-./:=? ".utf8.contains(byte)
    }
}
