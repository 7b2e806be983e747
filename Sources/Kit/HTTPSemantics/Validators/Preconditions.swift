public import Foundation
public import HTTPTypes

/// Evaluates the preconditions of a GET or HEAD against the validators of a representation. RFC 9110 §13.
public enum Preconditions {
    /// Returns whether a request has a precondition that a 304 may satisfy: most requests need no validators.
    public static func asksForNotModified(_ fields: HTTPFields) -> Bool {
        fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince)
    }

    /// Returns whether the client holds the representation already, so that the response is a 304.
    ///
    /// Beside `If-None-Match`, `If-Modified-Since` is ignored (§13.1.3).
    /// - Parameters:
    ///   - fields: header fields of the request.
    ///   - tag: entity tag of the representation; without one only `*` matches.
    ///   - lastModified: the date with which `If-Modified-Since` is compared; nil: the field is ignored.
    ///   - now: settles the century of two-digit years.
    public static func isNotModified(
        _ fields: HTTPFields,
        tag: EntityTag?,
        lastModified: Date?,
        now: Date
    ) -> Bool {
        if let condition = EntityTagCondition(lines: fields[values: .ifNoneMatch]) {
            return tag.map(condition.matchesWeakly) ?? (condition == .any)
        }
        guard let lastModified,
            let since = fields.value(of: .ifModifiedSince).flatMap({ HTTPDate.parse($0, now: now) })
        else { return false }
        return since >= lastModified
    }

    /// Returns whether `If-Range` permits a part to be sent; without the field, it does. §13.1.5.
    /// - Parameters:
    ///   - fields: header fields of the request.
    ///   - tag: entity tag of the representation.
    ///   - lastModified: modification date of the representation in whole seconds.
    ///   - date: when the response with these validators was made.
    ///   - now: settles the century of two-digit years.
    public static func allowsRange(
        _ fields: HTTPFields,
        tag: EntityTag?,
        lastModified: Date?,
        date: Date,
        now: Date
    ) -> Bool {
        guard let condition = fields.value(of: .ifRange) else { return true }
        if let given = HTTPDate.parse(condition, now: now) {
            // RFC 9110 §8.8.2.2: a date is a strong validator only if it is at least a second before the response was
            // made.
            return lastModified.map { $0 == given && date.timeIntervalSince($0) >= 1 } ?? false
        }
        guard let given = EntityTag(condition), let tag else { return false }
        return given.matchesStrongly(tag)
    }
}
