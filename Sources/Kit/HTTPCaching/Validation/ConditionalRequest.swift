import HTTPSemantics
public import HTTPTypes

/// The preconditions with which a stored response is validated. RFC 9111 §4.3.1.
public struct ConditionalRequest: Sendable, Equatable {
    /// Value of `If-None-Match` to send; the client's own tags follow the stored one.
    public var ifNoneMatch: String?
    /// Value of `If-Modified-Since` to send.
    public var ifModifiedSince: String?
    /// Whether a 304 can refer to the stored response.
    public var asksForStored: Bool
    /// Whether a 304 can refer to a representation that the client has and the cache does not.
    public var asksForClient: Bool

    /// Builds the preconditions from the stored validators and those of the client.
    ///
    /// The client's tags are sent after the stored one, so that a version that only the client has costs no transfer.
    /// Its date is replaced by the stored one: the cache evaluates it afterwards. If the stored response has no tag but
    /// the client sends one, only the client's precondition is sent, because origins ignore `If-Modified-Since` beside
    /// `If-None-Match` (RFC 9110 §13.1.3).
    /// - Parameters:
    ///   - stored: the stored response.
    ///   - client: header fields of the client's request.
    public init(validating stored: CachedResponseHead, client: HTTPFields) {
        let storedTag = stored.entityTag
        let modified = stored.headerFields.value(of: .lastModified)
        let condition = EntityTagCondition(lines: client[values: .ifNoneMatch])
        if let storedTag {
            var others: [EntityTag] = []
            if case .tags(let tags)? = condition { others = tags.filter { $0.opaque != storedTag.opaque } }
            ifNoneMatch = ([storedTag] + others).map(\.text).joined(separator: ", ")
            ifModifiedSince = modified
            asksForStored = true
            asksForClient = !others.isEmpty
        } else if let modified, condition == nil {
            ifModifiedSince = modified
            asksForStored = true
            asksForClient = false
        } else {
            ifNoneMatch = client.value(of: .ifNoneMatch)
            ifModifiedSince = client.value(of: .ifModifiedSince)
            asksForStored = false
            asksForClient = ifNoneMatch != nil || ifModifiedSince != nil
        }
    }

    /// Replaces the client's preconditions by these.
    public func apply(to fields: inout HTTPFields) {
        fields[.ifNoneMatch] = ifNoneMatch
        fields[.ifModifiedSince] = ifModifiedSince
    }
}
