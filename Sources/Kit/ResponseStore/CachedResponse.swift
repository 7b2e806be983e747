public import Database
public import Foundation
public import HTTPCaching

/// A part of a body that was received in parts.
public struct StoredPart: Sendable, Equatable {
    /// Identity of the part.
    public var id: Int64
    /// Positions of its bytes in the whole.
    public var range: Range<Int>
    /// The file that has them; nil if the database does.
    public var blob: Blob?
}

/// A response of an upstream with its body, as the database stores it.
public struct CachedResponse: Sendable, Equatable {
    /// Identity of a stored response. It stays if a newer response replaces the variant, and is never reused.
    public typealias ID = Int64

    /// The identity; nil for a response that was not stored yet.
    public var id: ID?
    /// Name of the upstream, such as `spacex`. Part of the key, so that responses of one upstream are never served for
    /// another.
    public var upstream: String
    /// The credential that it belongs to; nil if it is shared.
    public var credential: CredentialHash?
    /// Everything but the body. Times are stored to the millisecond.
    public var head: CachedResponseHead
    /// The body; empty for a response whose head has parts.
    public var body: StoredBody
    /// The parts of the body of such a response, in ascending order.
    public var parts: [StoredPart] = []
    /// When this content was received; a validation, or the same content again, does not change it. To the millisecond.
    public var contentTime: Date
    /// When it last served a request; decides the order of eviction.
    public var lastUsed: Date
    /// Whether it was invalidated by a write to its target: it must be validated before it is used as fresh (RFC 9111
    /// §4.4).
    public var isInvalidated: Bool
    /// Whether it is excluded from eviction, because an app made rows of it: without it the age of the rows is unknown.
    /// It stays pinned until it is replaced or removed.
    public var isPinned: Bool

    /// Creates a response to store.
    ///
    /// - Parameters:
    ///   - contentTime: Nil: when it was received.
    ///   - lastUsed: Nil: when it was received.
    public init(
        id: ID? = nil,
        upstream: String,
        credential: CredentialHash? = nil,
        head: CachedResponseHead,
        body: StoredBody,
        contentTime: Date? = nil,
        lastUsed: Date? = nil,
        isInvalidated: Bool = false,
        isPinned: Bool = false
    ) {
        self.id = id
        self.upstream = upstream
        self.credential = credential
        self.head = head
        self.body = body
        self.contentTime = contentTime ?? head.responseTime
        self.lastUsed = lastUsed ?? head.responseTime
        self.isInvalidated = isInvalidated
        self.isPinned = isPinned
    }
}
