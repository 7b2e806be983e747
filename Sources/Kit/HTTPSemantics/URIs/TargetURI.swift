/// Compares and resolves absolute URIs, as cache keys and as the targets of `Location`: the part of RFC 3986 that this
/// takes, on plain text, so that nothing is re-encoded.
public enum TargetURI {
    /// Returns the form in which absolute URIs of one resource are equal: scheme and host in lower case, no default
    /// port, no fragment, `/` for an empty path. RFC 9110 §4.2.3.
    /// - Returns: nil if the text is not an `http` or `https` URI.
    public static func normalized(_ absolute: String) -> String? {
        isNormal(absolute) ? absolute : URIParts(absolute).normalized?.text
    }

    /// Whether a text is in that form for certain, as most are: its bytes are read once and nothing is built.
    private static func isNormal(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            let start = bytes.starts(with: "http://".utf8) ? 7 : bytes.starts(with: "https://".utf8) ? 8 : nil
            guard let start, let end = bytes[start...].firstIndex(of: UInt8(ascii: "/")) else { return false }
            let authority = bytes[start..<end]
            let port = bytes[(authority.lastIndex(of: UInt8(ascii: ":")) ?? end)..<end]
            return !authority.isEmpty && authority.allSatisfy(authorityInLowerCase.contains)
                && ![":", ":80", ":443"].contains { port.elementsEqual($0.utf8) }
                && !bytes.contains(UInt8(ascii: "#"))
        } ?? false
    }

    private static let authorityInLowerCase = ASCIISet("0123456789abcdefghijklmnopqrstuvwxyz.-_~:[]")

    /// Resolves the value of `Location` or `Content-Location` against the target of the request. RFC 3986 §5.2.
    /// - Returns: the normalized URI; nil if it is not an `http` or `https` URI.
    public static func resolve(_ reference: String, against base: String) -> String? {
        URIParts(reference).resolved(against: URIParts(base)).normalized?.text
    }

    /// Returns whether two URIs have scheme, host and port in common. RFC 9110 §4.3.1.
    public static func haveSameOrigin(_ one: String, _ other: String) -> Bool {
        guard let one = URIParts(one).normalized, let other = URIParts(other).normalized else { return false }
        return one.scheme == other.scheme && one.authority == other.authority
    }
}
