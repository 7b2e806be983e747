public import Foundation
import HTTPCaching

/// What is known of a stored response without its head and body: enough to say whether rows that an app made of it may
/// be served, and how old they are.
public struct StoredResponseMetadata: Sendable, Equatable {
    /// Identity; nil for a response that is not stored.
    public var id: CachedResponse.ID?
    /// When it was received or last validated.
    public var responseTime: Date
    /// When its content was received.
    public var contentTime: Date
    /// When it last served a request.
    public var lastUsed: Date
    /// Whether it must be validated before it is used as fresh.
    public var isInvalidated: Bool

    /// Returns how long the response has been stored, in seconds, as `HTTPCaching/CachedResponseHead` does.
    public func residentTime(at now: Date) -> Double { abs(now.timeIntervalSince(responseTime)) }
}

extension CachedResponse {
    /// What is known of it without its head and body.
    public var metadata: StoredResponseMetadata {
        StoredResponseMetadata(
            id: id,
            responseTime: head.responseTime,
            contentTime: contentTime,
            lastUsed: lastUsed,
            isInvalidated: isInvalidated
        )
    }
}
