public import Database
public import Foundation
public import HTTPCaching

/// One response of an upstream with its body, as the database keeps it.
public struct CachedResponse: Sendable, Equatable {
    /// Identity of a stored response. It stays when a newer answer replaces the same variant, and is never given to
    /// another.
    public typealias ID = Int64

    /// Identity; nil for a response that was not stored yet.
    public var id: ID?
    /// Name of the upstream that answered, such as `spacex`. Part of the key: what one upstream said is never taken for
    /// another's word.
    public var upstream: String
    /// Whose response it is; nil: anybody's.
    public var credential: CredentialHash?
    /// Everything but the body. Times are kept to the millisecond.
    public var head: CachedResponseHead
    /// The body.
    public var body: StoredBody
    /// When this content was received; it stays when the upstream confirms it, or sends the same again. To the
    /// millisecond.
    public var contentTime: Date
    /// When it last served a request; decides what goes first when space runs out.
    public var lastUsed: Date
    /// Whether a write to its target made it doubtful since: it must be validated before it is used as fresh (RFC 9111
    /// §4.4).
    public var isInvalidated: Bool
    /// Whether it must stay when space runs out, because an app made rows of it: without it nobody could say how old
    /// they are. Only replacing or removing it ends that.
    public var isPinned: Bool

    /// Creates a response to store.
    ///
    /// - Parameters:
    ///   - contentTime: nil means when it was received.
    ///   - lastUsed: the same.
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
