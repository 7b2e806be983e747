import Crypto
public import Foundation

/// Entity tags of answers that Larder makes itself, and the comparison of RFC 9110 §8.8.3.2.
public enum EntityTag {
    /// A strong tag of these bytes; `variant` tells encodings of the same content apart (RFC 9110 §8.8.3.3). A `version` of what the bytes show stands in front, so that
    /// ``versions(in:)`` finds it again, whatever the form in which a client got it.
    public static func strong(for bytes: Data, version: Int? = nil, variant: String? = nil) -> String {
        let digest = Data(SHA256.hash(data: bytes).prefix(15)).base64EncodedString()
        return "\"\(version.map { "\($0)." } ?? "")\(digest)\(variant.map { "-\($0)" } ?? "")\""
    }

    /// The versions that the tags of an `If-Match` name, as far as they are tags of ``strong(for:version:variant:)``; a version by itself is one, too. nil for `*`, which names any.
    /// Weak tags never match (RFC 9110 §13.1.1).
    public static func versions(in ifMatch: [String]) -> Set<Int>? {
        let members = ifMatch.joined(separator: ",").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if members.contains("*") { return nil }
        return Set(
            members.compactMap { member in
                guard member.count >= 2, member.hasPrefix("\""), member.hasSuffix("\"") else { return nil }
                let digits = member.dropFirst().dropLast().prefix { $0 != "." }
                return digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
            }
        )
    }

    /// Whether an `If-None-Match` list names this tag, compared weakly; `*` names every tag (RFC 9110 §13.1.2).
    public static func matches(_ ifNoneMatch: [String], _ tag: String) -> Bool {
        let wanted = opaque(tag)
        return ifNoneMatch.joined(separator: ",").split(separator: ",").contains { member in
            let candidate = member.trimmingCharacters(in: .whitespaces)
            return candidate == "*" || opaque(candidate) == wanted
        }
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
