import HTTPTypes

/// What to do with a request, given what is stored. RFC 9111 §4.
public enum Decision: Sendable, Equatable {
    /// Answer from the store.
    case serve(Reuse)
    /// Ask the origin, and let its response decide about a stored one.
    case validate(Validation)
    /// Send the request on as it is; nothing stored helps.
    case forward(CacheStatus.Forward)
    /// Answer 504: the client forbade the network (`only-if-cached`, RFC 9111 §5.2.1.7) and nothing stored may be used.
    case gatewayTimeout
}

/// A stored response that may be sent now.
public struct Reuse: Sendable, Equatable {
    /// Its place among the candidates.
    public var index: Int
    /// The response.
    public var stored: CachedResponseHead
    /// Its age in whole seconds: the value of `Age`. RFC 9111 §5.1.
    public var age: Int
    /// How fresh it is.
    public var freshness: Freshness
    /// The account to give of it: a hit with its remaining freshness.
    public var status: CacheStatus
    /// What to do meanwhile: the response is stale, but may be used while it is validated. RFC 5861 §3.
    public var revalidation: Validation?
}

/// A stored response that must not be used before the origin was asked.
public struct Validation: Sendable, Equatable {
    /// Its place among the candidates.
    public var index: Int
    /// The response.
    public var stored: CachedResponseHead
    /// The preconditions to put into the request; none where the stored response has no validator.
    public var condition: ConditionalRequest
    /// Why the stored response does not do: `stale` or `request`.
    public var reason: CacheStatus.Forward
    /// When the stored response may be used nevertheless.
    public var fallback: Fallback
}

/// The failures of an upstream that permit the use of a stored response. RFC 9111 §4.2.4, §4.3.3, RFC 5861 §4.
///
/// Where a failure is not covered, the error itself is the response: 502 or 504, never the stored one (RFC 9111
/// §5.2.2.2).
public struct Fallback: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set of failures.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// No response at all: not reachable, connection lost, out of time.
    public static let unreachable = Fallback(rawValue: 1)
    /// The response 500, 502, 503 or 504, the errors of RFC 5861 §4.
    public static let serverError = Fallback(rawValue: 2)
    /// Any 5xx (RFC 9111 §4.3.3), or 429, which likewise says nothing about the resource.
    public static let anyRefusal = Fallback(rawValue: 4)

    /// Whether a response with this status counts as a failure that is covered.
    public func covers(status: Int) -> Bool {
        switch status {
        case 500, 502, 503, 504: contains(.serverError) || contains(.anyRefusal)
        case 429, 500...599: contains(.anyRefusal)
        default: false
        }
    }
}
