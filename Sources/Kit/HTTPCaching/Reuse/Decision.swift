/// What a cache does with a request, given the stored responses. RFC 9111 §4.
public enum Decision: Sendable, Equatable {
    /// Respond from the store.
    case serve(Reuse)
    /// Validate a stored response at the origin.
    case validate(Validation)
    /// Request the bytes that are missing, and combine them with stored ones. RFC 9111 §3.4.
    case complete(Completion)
    /// Forward the request unchanged; no stored response can be used.
    case forward(CacheStatus.Forward)
    /// Respond with 504: the client forbids the network (`only-if-cached`, RFC 9111 §5.2.1.7) and no stored response
    /// may be used. The validation is of a stale response that may be used if the cache is disconnected (§4.2.4); nil
    /// if there is none.
    case gatewayTimeout(Validation?)
}

/// A stored response that may be sent now.
public struct Reuse: Sendable, Equatable {
    /// Its index among the candidates.
    public var index: Int
    /// The response.
    public var stored: CachedResponseHead
    /// Its age in seconds.
    public var exactAge: Double
    /// How fresh it is.
    public var freshness: Freshness
    /// Its `Cache-Status`: a hit with the remaining freshness.
    public var status: CacheStatus
    /// The validation to make in the background: the response is stale, but may be used while it is validated. RFC 5861
    /// §3.
    public var revalidation: Validation?
}

extension Reuse {
    /// Its age in whole seconds: the value of `Age`. RFC 9111 §5.1.
    public var age: Int { Int(exactAge.rounded(.down)) }
}
