public import HTTPTypes

/// The preconditions with which a stored response is validated. RFC 9111 §4.3.1.
public struct ConditionalRequest: Sendable, Equatable {
    /// Value of `If-None-Match` to send; the client's own tags stand behind the stored one.
    public var ifNoneMatch: String?
    /// Value of `If-Modified-Since` to send.
    public var ifModifiedSince: String?
    /// Whether a 304 can mean the stored response.
    public var asksForStored: Bool
    /// Whether a 304 can mean what the client holds and the cache does not.
    public var asksForClient: Bool

    /// Builds the preconditions from the stored validators and those of the client.
    ///
    /// The client's tags are kept beside the stored one, so that a version that only the client holds costs no
    /// transfer. Its date gives way to the stored one: the cache answers it by itself afterwards. Where the stored
    /// answer has no tag but the client sends one, the client's precondition goes alone, because origins disregard
    /// `If-Modified-Since` beside `If-None-Match` (RFC 9110 §13.1.3).
    public init(validating stored: CachedResponseHead, client: HTTPFields) {
        let own = stored.headerFields[.eTag].flatMap { EntityTag($0) }
        let modified = stored.headerFields[.lastModified]
        let condition = EntityTagCondition(lines: client[values: .ifNoneMatch])
        if let own {
            var others: [EntityTag] = []
            if case .tags(let tags)? = condition { others = tags.filter { $0.opaque != own.opaque } }
            ifNoneMatch = ([own] + others).map(\.text).joined(separator: ", ")
            ifModifiedSince = modified
            asksForStored = true
            asksForClient = !others.isEmpty
        } else if let modified, condition == nil {
            ifModifiedSince = modified
            asksForStored = true
            asksForClient = false
        } else {
            ifNoneMatch = client[.ifNoneMatch]
            ifModifiedSince = client[.ifModifiedSince]
            asksForStored = false
            asksForClient = ifNoneMatch != nil || ifModifiedSince != nil
        }
    }

    /// Puts the preconditions in place of those of the client.
    public func apply(to fields: inout HTTPFields) {
        fields[.ifNoneMatch] = ifNoneMatch
        fields[.ifModifiedSince] = ifModifiedSince
    }
}
