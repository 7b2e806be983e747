public import Foundation
public import HTTPTypes

/// Reads `Retry-After`: a number of seconds, or a date. RFC 9110 §10.2.3.
public enum RetryAfter {
    /// Returns how long the sender asks to wait.
    /// - Parameters:
    ///   - fields: header fields of a response.
    ///   - now: when the response was received.
    /// - Returns: whole seconds from `now`, at least 0; nil if the field is absent or cannot be read.
    public static func seconds(_ fields: HTTPFields, at now: Date) -> Int? {
        guard let value = fields[.retryAfter].map({ FieldList.trim($0) }) else { return nil }
        if let seconds = DeltaSeconds.parse(value) { return seconds }
        return HTTPDate.parse(String(value), now: now).map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) }
    }
}
