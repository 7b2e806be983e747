import Crypto
package import Foundation
package import HTTPSemantics

// Entity tags of responses that Larder makes itself. Lists of tags are read and compared in HTTPSemantics only.
extension EntityTag {
    /// Creates a strong tag of these bytes.
    ///
    /// - Parameters:
    ///   - version: version of what the bytes show, without `.` and `"`. It comes first, so that ``version`` finds it
    ///     whatever the encoding in which a client got it.
    ///   - variant: tells encodings of the same content apart (RFC 9110 §8.8.3.3).
    package static func strong(for bytes: Data, version: String? = nil, variant: String? = nil) -> String {
        let digest = Data(SHA256.hash(data: bytes).prefix(15)).base64EncodedString()
        return "\"\(version.map { "\($0)." } ?? "")\(digest)\(variant.map { "-\($0)" } ?? "")\""
    }

    /// The version that a tag of ``strong(for:version:variant:)`` names; of another tag all that is between its
    /// quotation marks.
    ///
    /// Nil if the tag has no quotation marks (RFC 9110 §8.8.3).
    package var version: String? {
        guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\"") else { return nil }
        return String(opaque.dropFirst().dropLast().prefix { $0 != "." })
    }

    /// The numbered versions that an `If-Match` names, in tags of ``strong(for:version:variant:)`` or by themselves;
    /// nil for `*`, which matches any.
    ///
    /// Weak tags never match (RFC 9110 §13.1.1).
    package static func versions(in ifMatch: [String]) -> Set<Int>? {
        switch EntityTagCondition(lines: ifMatch) {
        case .any: return nil
        case .tags(let tags): return Set(tags.filter { !$0.isWeak }.compactMap(\.version).compactMap(Self.number))
        case nil: return []
        }
    }

    private static func number(_ digits: String) -> Int? {
        digits.isDigits ? Int(digits) : nil
    }

    /// Whether an `If-None-Match` names this tag, compared weakly; `*` names every tag (RFC 9110 §13.1.2).
    package static func matches(_ ifNoneMatch: [String], _ tag: String) -> Bool {
        guard let tag = EntityTag(tag), let condition = EntityTagCondition(lines: ifNoneMatch) else { return false }
        return condition.matchesWeakly(tag)
    }
}
