import Foundation
import HTTPTypes

/// The client's own preconditions, evaluated against a stored response. RFC 9111 §4.3.2, RFC 9110 §13.
enum Precondition {
    /// Whether the client already holds what is stored, so that 304 is the response.
    static func isNotModified(_ request: HTTPFields, stored: CachedResponseHead) -> Bool {
        // RFC 9110 §13.2.1: preconditions count only where the response would be a success.
        guard stored.status.kind == .successful else { return false }
        // RFC 9110 §13.1.3: beside If-None-Match, If-Modified-Since is disregarded.
        if let condition = EntityTagCondition(lines: request[values: .ifNoneMatch]) {
            guard let own = stored.headerFields[.eTag].flatMap({ EntityTag($0) }) else { return condition == .any }
            return condition.matchesWeakly(own)
        }
        guard let text = request[.ifModifiedSince], let since = HTTPDate.parse(text, now: stored.responseTime) else {
            return false
        }
        // RFC 9111 §4.3.2: without Last-Modified the date of the response stands in.
        let modified = stored.headerFields[.lastModified].flatMap { HTTPDate.parse($0, now: stored.responseTime) }
        return since >= (modified ?? stored.date)
    }

    /// Whether `If-Range` lets a part be sent; without it, always. RFC 9110 §13.1.5.
    static func allowsRange(_ request: HTTPFields, stored: CachedResponseHead) -> Bool {
        guard let condition = request[.ifRange] else { return true }
        if let modified = stored.headerFields[.lastModified],
            let date = HTTPDate.parse(condition, now: stored.responseTime)
        {
            // RFC 9110 §8.8.2.2: a date is a strong validator only if it lies at least a second before the response was
            // made.
            guard let stamp = HTTPDate.parse(modified, now: stored.responseTime) else { return false }
            return stamp == date && stored.date.timeIntervalSince(stamp) >= 1
        }
        guard let tag = EntityTag(condition), let own = stored.headerFields[.eTag].flatMap({ EntityTag($0) }) else {
            return false
        }
        return tag.matchesStrongly(own)
    }
}
