/// An entity tag. RFC 9110 §8.8.3.
///
/// Some servers send tags without quotation marks; such a tag is kept unchanged and equals only itself.
public struct EntityTag: Sendable, Equatable {
    /// Whether it only indicates equivalence. RFC 9110 §8.8.1.
    public var isWeak: Bool
    /// The tag with its quotation marks.
    public var opaque: String

    /// Reads one tag; nil if it is empty.
    public init?(_ text: some StringProtocol) {
        var tag = FieldList.trim(text)
        isWeak = tag.hasPrefix("W/")
        if isWeak { tag.removeFirst(2) }
        guard !tag.isEmpty else { return nil }
        opaque = String(tag)
    }

    /// The tag as a field writes it.
    public var text: String { (isWeak ? "W/" : "") + opaque }

    /// Compares weakly. RFC 9110 §8.8.3.2.
    ///
    /// Bytes that are not UTF-8 were replaced in reading, so tags with the replacement character cannot be told apart
    /// and match nothing.
    public func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque && !opaque.unicodeScalars.contains("\u{FFFD}")
    }

    /// Compares strongly: neither tag may be weak. RFC 9110 §8.8.3.2.
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && matchesWeakly(other)
    }
}
