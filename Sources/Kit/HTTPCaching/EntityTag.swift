/// An entity tag. RFC 9110 §8.8.3.
///
/// Tags without quotation marks are in the wild; they are kept as they are and equal nothing but themselves.
public struct EntityTag: Sendable, Equatable {
    /// Whether it only vouches for equivalence. RFC 9110 §8.8.1.
    public var isWeak: Bool
    /// The tag with its quotation marks.
    public var opaque: String

    /// Reads one tag; nil when it is empty.
    public init?(_ text: some StringProtocol) {
        var tag = FieldList.trim(Substring(text))
        isWeak = tag.hasPrefix("W/")
        if isWeak { tag.removeFirst(2) }
        guard !tag.isEmpty else { return nil }
        opaque = String(tag)
    }

    /// As it stands in a field.
    public var text: String { (isWeak ? "W/" : "") + opaque }

    /// RFC 9110 §8.8.3.2. Bytes that are no UTF-8 were replaced in reading, so tags with the replacement mark cannot be
    /// told apart.
    public func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque && !opaque.unicodeScalars.contains("\u{FFFD}")
    }

    /// RFC 9110 §8.8.3.2: neither may be weak.
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && matchesWeakly(other)
    }
}

/// The value of `If-Match` or `If-None-Match`. RFC 9110 §13.1.1, §13.1.2.
public enum EntityTagCondition: Sendable, Equatable {
    /// `*`: any representation that there is.
    case any
    /// One of these.
    case tags([EntityTag])

    /// Reads the lines of a field; nil if it is absent or has no member.
    public init?(lines: [String]) {
        let members = lines.flatMap { FieldList.members(of: $0, escapes: false) }
        guard !members.isEmpty else { return nil }
        self = members.contains("*") ? .any : .tags(members.compactMap { EntityTag($0) })
    }

    /// Whether it names a present tag by weak comparison, as `If-None-Match` does.
    public func matchesWeakly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesWeakly(tag) }
        }
    }
}
