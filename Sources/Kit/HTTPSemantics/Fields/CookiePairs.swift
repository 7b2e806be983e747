/// Reads the cookies of a request. RFC 6265 §4.2.1.
public enum CookiePairs {
    /// Returns the pairs `name=value` of a `Cookie` line whose names begin with a prefix, in order, byte for byte.
    public static func named(_ prefix: String, in line: String) -> [Substring] {
        line.utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let pair = FieldList.trim(Substring(part))
            return pair.utf8.starts(with: prefix.utf8) ? pair : nil
        }
    }

    /// Returns a `Cookie` line without the pairs whose names begin with a prefix, in any case; nil if none is left.
    public static func line(_ line: String, without prefix: String) -> String? {
        let kept = line.utf8.split(separator: UInt8(ascii: ";")).map { FieldList.trim(Substring($0)) }.filter {
            !$0.isEmpty && !begins($0, with: prefix)
        }
        return kept.isEmpty ? nil : kept.joined(separator: "; ")
    }

    /// Whether `Set-Cookie` gives a client a cookie whose name begins with a prefix, in any case. One without a name
    /// counts by its value, since browsers send it back without `=`.
    public static func sets(_ setCookie: String, _ prefix: String) -> Bool {
        begins(Substring(setCookie.drop { $0 == " " || $0 == "\t" || $0 == "=" }), with: prefix)
    }

    private static func begins(_ pair: Substring, with prefix: String) -> Bool {
        pair.prefix { $0 != "=" }.lowercased().hasPrefix(prefix)
    }
}
