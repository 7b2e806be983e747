/// Writes the `Content-Disposition` field of a file. RFC 6266.
public enum ContentDisposition {
    /// Returns the value of the field, with the name in ASCII for old clients and unchanged, in the form of RFC 8187,
    /// for all others.
    /// - Parameters:
    ///   - type: `inline` or `attachment`.
    ///   - fileName: name of the file; without one, the value is the type alone.
    public static func value(_ type: String, fileName: String?) -> String {
        guard let fileName, !fileName.isEmpty else { return type }
        let encoded = PercentEncoding.encode(fileName, allowed: .attributeCharacters)
        return "\(type); filename=\"\(plain(fileName))\"; filename*=UTF-8''\(encoded)"
    }

    /// Printable ASCII without the characters that old clients misread: quotes, backslashes, percent signs and path
    /// separators become `_`.
    private static func plain(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    (0x20...0x7E).contains($0.value) && !"\"\\%/".unicodeScalars.contains($0) ? $0 : "_"
                }
            )
        )
    }
}
