import HTTPSemantics
import HTTPTypes
import Screens

extension ScreenRequest {
    /// Evaluates the preconditions of a change (RFC 9110 §13.1.1, §13.1.2).
    ///
    /// - Parameter version: the version with which the entity tag of the target begins; nil if the target has no
    ///   representation.
    /// - Throws: ``Problem``, 412 if one does not hold.
    func checkPreconditions(version: Int?) throws {
        let ifMatch = headerFields[values: .ifMatch]
        if !ifMatch.isEmpty {
            let versions = EntityTag.versions(in: ifMatch)
            guard let version, versions?.contains(version) ?? true else { throw Self.failed("If-Match") }
        }
        guard let version, let ifNoneMatch = EntityTagCondition(lines: headerFields[values: .ifNoneMatch]) else {
            return
        }
        let isNamed =
            switch ifNoneMatch {
            case .any: true
            case .tags(let tags): tags.contains { $0.version == String(version) }
            }
        if isNamed { throw Self.failed("If-None-Match") }
    }

    private static func failed(_ field: String) -> Problem {
        Problem(
            .preconditionFailed,
            "What is there now is not what \(field) asks for. Nothing was changed; read it again before changing it."
        )
    }
}
