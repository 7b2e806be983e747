import Crypto
public import Foundation

/// Entity tags of answers that Larder makes itself, and the comparison of RFC 9110 §8.8.3.2.
public enum EntityTag {
    /// A strong tag of these bytes; `variant` tells encodings of the same content apart (RFC 9110 §8.8.3.3).
    public static func strong(for bytes: Data, variant: String? = nil) -> String {
        let digest = Data(SHA256.hash(data: bytes).prefix(15)).base64EncodedString()
        return variant.map { "\"\(digest)-\($0)\"" } ?? "\"\(digest)\""
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
