/// The value of `If-Match` or `If-None-Match`. RFC 9110 §13.1.1, §13.1.2.
public enum EntityTagCondition: Sendable, Equatable {
    /// `*`: any current representation.
    case any
    /// One of these.
    case tags([EntityTag])

    /// Reads the lines of a field; nil if it is absent or has no member.
    public init?(lines: [String]) {
        let members = lines.flatMap { FieldList.members(of: $0, escapes: false) }
        guard !members.isEmpty else { return nil }
        self = members.contains("*") ? .any : .tags(members.compactMap { EntityTag($0) })
    }

    /// Returns whether the condition names a tag by weak comparison, as `If-None-Match` does.
    public func matchesWeakly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesWeakly(tag) }
        }
    }
}
