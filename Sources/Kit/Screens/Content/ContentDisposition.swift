/// The `Content-Disposition` field of a file, RFC 6266.
enum ContentDisposition {
    /// With the name in ASCII for old clients and as it is, in the form of RFC 8187, for all others.
    static func field(_ disposition: FileContent.Disposition, fileName: String?) -> String {
        guard let fileName, !fileName.isEmpty else { return disposition.rawValue }
        return "\(disposition.rawValue); filename=\"\(plain(fileName))\"; filename*=UTF-8''\(encoded(fileName))"
    }

    /// Printable ASCII without what old clients stumble over: quotes, backslashes, percent signs and path separators
    /// become `_`.
    private static func plain(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    (0x20...0x7E).contains($0.value) && !"\"\\%/".unicodeScalars.contains($0) ? $0 : "_"
                }
            )
        )
    }

    /// RFC 8187 §3.2.1 `value-chars`: attr-char as it is, all other octets percent-encoded.
    private static func encoded(_ name: String) -> String {
        name.utf8.reduce(into: "") { result, byte in
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "!#$&+-.^_`|~".utf8.contains(byte)
            if isPlain {
                result.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
