import HTTPSemantics
public import HTTPTypes

/// The preconditions of a write to something with a numbered version, which its entity tag begins with
/// (``ScreenResponse/version``). RFC 9110 §13.1.1, §13.1.2.
public struct VersionPreconditions: Sendable, Equatable {
    private var ifMatch: EntityTagCondition?
    private var ifNoneMatch: EntityTagCondition?

    /// No preconditions.
    public static let none = VersionPreconditions([:])

    /// Reads `If-Match` and `If-None-Match` of a request. A field without a member names no tag.
    public init(_ fields: HTTPFields) {
        func condition(_ name: HTTPField.Name) -> EntityTagCondition? {
            let lines = fields[values: name]
            return lines.isEmpty ? nil : EntityTagCondition(lines: lines) ?? .tags([])
        }
        ifMatch = condition(.ifMatch)
        ifNoneMatch = condition(.ifNoneMatch)
    }

    /// Returns whether both fields permit the write, in the order of RFC 9110 §13.2.2.
    ///
    /// - Parameter version: the current version; nil if there is nothing that has one.
    public func hold(at version: Int?) -> Bool {
        if let ifMatch, !Self.names(ifMatch, version, weakly: false) { return false }
        if let ifNoneMatch, Self.names(ifNoneMatch, version, weakly: true) { return false }
        return true
    }

    /// Throws unless both fields permit the write.
    ///
    /// - Parameters:
    ///   - version: the current version; nil if there is nothing that has one.
    ///   - what: what the write acts on, for the text.
    /// - Throws: 412 `precondition-failed`.
    public func check(at version: Int?, of what: String) throws(Problem) {
        guard !hold(at: version) else { return }
        throw Problem(
            .preconditionFailed,
            "\(what) is not at a version that If-Match or If-None-Match allows; read it again before changing it."
        )
    }

    /// Weak tags count only in a weak comparison (RFC 9110 §8.8.3.2).
    private static func names(_ condition: EntityTagCondition, _ version: Int?, weakly: Bool) -> Bool {
        guard let version else { return false }
        return switch condition {
        case .any: true
        case .tags(let tags): tags.contains { (weakly || !$0.isWeak) && $0.version == String(version) }
        }
    }
}
