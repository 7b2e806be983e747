import Foundation
import HTTP
import HTTPTypes
import Screens

/// The preconditions of a write (RFC 9110 §13), compared with the present state at the API.
struct WriteConditions: Sendable, Equatable {
    /// `If-Match`: the item that the write acts on must have one of these versions.
    var ifMatch: EntityTagCondition?
    /// `If-Unmodified-Since`, ignored if `If-Match` is present (RFC 9110 §13.1.4).
    var unmodifiedSince: Date?
    /// `If-None-Match`: the item at the path of the result must have none of these versions.
    var ifNoneMatch: EntityTagCondition?

    /// No conditions.
    static let none = WriteConditions()

    private init() {}

    /// Reads the fields of a request. A field without a member names no tag.
    init(_ fields: HTTPFields, at now: Date) {
        func condition(_ name: HTTPField.Name) -> EntityTagCondition? {
            let lines = fields[values: name]
            return lines.isEmpty ? nil : EntityTagCondition(lines: lines) ?? .tags([])
        }
        ifMatch = condition(.ifMatch)
        ifNoneMatch = condition(.ifNoneMatch)
        if ifMatch == nil { unmodifiedSince = fields[.ifUnmodifiedSince].flatMap { HTTPDate.parse($0, now: now) } }
    }

    /// Whether the present state of the item that the write acts on is needed.
    var concernSubject: Bool { ifMatch != nil || unmodifiedSince != nil }

    /// Whether the write must not replace anything. The API enforces it, so that there is no race with other clients.
    var forbidReplacing: Bool { ifNoneMatch == .any }

    /// Evaluates the conditions in the order of RFC 9110 §13.2.2.
    ///
    /// - Parameters:
    ///   - subject: The item that the write acts on; nil if there is none.
    ///   - place: The item at the path of the result; nil if there is none.
    /// - Throws: 412 `precondition-failed`.
    func check(subject: DiskItem?, place: DiskItem?) throws(Problem) {
        if let ifMatch, !Self.names(ifMatch, subject, weakly: false) { throw Self.failed("If-Match") }
        if let unmodifiedSince, let modified = subject?.modified, modified > unmodifiedSince {
            throw Self.failed("If-Unmodified-Since")
        }
        if let ifNoneMatch, Self.names(ifNoneMatch, place, weakly: true) { throw Self.failed("If-None-Match") }
    }

    /// Refuses a write because the API has found an item that `If-None-Match: *` forbids.
    ///
    /// - Throws: 412 `precondition-failed`, always.
    func refuse() throws(Problem) -> Never { throw Self.failed("If-None-Match") }

    /// Weak tags count only in a weak comparison (RFC 9110 §8.8.3.2).
    private static func names(_ condition: EntityTagCondition, _ item: DiskItem?, weakly: Bool) -> Bool {
        guard let item else { return false }
        return switch condition {
        case .any: true
        case .tags(let tags):
            tags.contains { tag in (weakly || !tag.isWeak) && tag.version.map(item.versions.contains) ?? false }
        }
    }

    private static func failed(_ field: String) -> Problem {
        Problem(
            .preconditionFailed,
            "What is on Yandex Disk now is not what \(field) asks for. "
                + "Nothing was changed; read it again before changing it."
        )
    }
}
