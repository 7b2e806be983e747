import HTTP
import HTTPTypes

/// The preconditions of a write on something that counts its versions (RFC 9110 §13).
///
/// `If-Modified-Since` and `If-Unmodified-Since` do not apply: a counted version has no modification date (§13.1.4).
package struct WritePreconditions: Sendable, Equatable {
    private let ifMatch: EntityTagCondition?
    private let ifNoneMatch: EntityTagCondition?

    package static let none = WritePreconditions([:])

    /// Reads the fields of a request. A field without a member names no tag.
    init(_ fields: HTTPFields) {
        func condition(_ name: HTTPField.Name) -> EntityTagCondition? {
            let lines = fields[values: name]
            return lines.isEmpty ? nil : EntityTagCondition(lines: lines) ?? .tags([])
        }
        ifMatch = condition(.ifMatch)
        ifNoneMatch = condition(.ifNoneMatch)
    }

    /// Evaluates the preconditions, in the transaction of the write.
    ///
    /// - Parameters:
    ///   - version: The current version, which is that of the screen's entity tags; nil if nothing exists that has one.
    ///   - name: The target of the write, for the text.
    /// - Throws: ``Problem`` 412 `precondition-failed`.
    package func check(version: Int?, of name: String = "This") throws(Problem) {
        // Weak tags count only in a weak comparison (RFC 9110 §8.8.3.2).
        if let ifMatch, !ifMatch.names(version, weakly: false) {
            throw Self.failed(name, version, "If-Match does not name")
        }
        if let ifNoneMatch, ifNoneMatch.names(version, weakly: true) {
            throw Self.failed(name, version, "If-None-Match names")
        }
    }

    private static func failed(_ name: String, _ version: Int?, _ field: String) -> Problem {
        let state = version.map { "is at version \($0), which \(field)" } ?? "does not exist, which If-Match requires"
        return Problem(
            .preconditionFailed,
            "\(name) \(state). Nothing was changed; read it again before changing it."
        )
    }
}

extension EntityTagCondition {
    fileprivate func names(_ version: Int?, weakly: Bool) -> Bool {
        guard let version else { return false }
        return switch self {
        case .any: true
        case .tags(let tags): tags.contains { (weakly || !$0.isWeak) && $0.version == String(version) }
        }
    }
}

extension ScreenRequest {
    package func writePreconditions() -> WritePreconditions { WritePreconditions(headerFields) }
}
