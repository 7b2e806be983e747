/// A stored response that must be validated before it is used.
public struct Validation: Sendable, Equatable {
    /// Its index among the candidates.
    public var index: Int
    /// The response.
    public var stored: CachedResponseHead
    /// The preconditions to put into the request; none if the stored response has no validator.
    public var condition: ConditionalRequest
    /// Why the stored response cannot be used: `stale` or `request`.
    public var reason: CacheStatus.Forward
    /// The failures after which the stored response may be used nevertheless.
    public var fallback: Fallback
}
