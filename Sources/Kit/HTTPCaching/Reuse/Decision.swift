import HTTPTypes

/// What a cache does with a request, given the stored responses. RFC 9111 §4.
public enum Decision: Sendable, Equatable {
    /// Respond from the store.
    case serve(Reuse)
    /// Validate a stored response at the origin.
    case validate(Validation)
    /// Forward the request unchanged; no stored response can be used.
    case forward(CacheStatus.Forward)
    /// Respond with 504: the client forbids the network (`only-if-cached`, RFC 9111 §5.2.1.7) and no stored response
    /// may be used.
    case gatewayTimeout
}

/// A stored response that may be sent now.
public struct Reuse: Sendable, Equatable {
    /// Its index among the candidates.
    public var index: Int
    /// The response.
    public var stored: CachedResponseHead
    /// Its age in whole seconds: the value of `Age`. RFC 9111 §5.1.
    public var age: Int
    /// How fresh it is.
    public var freshness: Freshness
    /// Its `Cache-Status`: a hit with the remaining freshness.
    public var status: CacheStatus
    /// The validation to make in the background: the response is stale, but may be used while it is validated. RFC 5861
    /// §3.
    public var revalidation: Validation?
}

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

/// The failures of an upstream that permit the use of a stored response. RFC 9111 §4.2.4, §4.3.3, RFC 5861 §4.
///
/// If a failure is not covered, the error itself is the response: 502 or 504, never the stored one (RFC 9111
/// §5.2.2.2).
public struct Fallback: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set of failures.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// No response: not reachable, connection lost, timed out.
    public static let unreachable = Fallback(rawValue: 1)
    /// A response with 500, 502, 503 or 504, the errors of RFC 5861 §4.
    public static let serverError = Fallback(rawValue: 2)
    /// Any 5xx (RFC 9111 §4.3.3), or 429, which likewise says nothing about the resource.
    public static let anyRefusal = Fallback(rawValue: 4)

    /// Returns whether a response with this status is a failure that is covered.
    public func covers(status: Int) -> Bool {
        switch status {
        case 500, 502, 503, 504: contains(.serverError) || contains(.anyRefusal)
        case 429, 500...599: contains(.anyRefusal)
        default: false
        }
    }
}
