import Foundation
import HTTPCaching
import HTTPTypes

/// `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
enum RetryAfter {
    /// Returns the wait in seconds, nil if the field is missing or malformed.
    static func seconds(_ fields: HTTPFields, at now: Date) -> Int? {
        guard let value = fields[.retryAfter]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Int(value) { return max(0, seconds) }
        return HTTPDate.parse(value, now: now).map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) }
    }
}
