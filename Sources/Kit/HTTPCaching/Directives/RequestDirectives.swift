import HTTPSemantics
public import HTTPTypes

/// The cache directives of a request. RFC 9111 §5.2.1, RFC 5861 §4.
public struct RequestDirectives: Sendable, Equatable {
    /// How stale a response the client accepts. RFC 9111 §5.2.1.2.
    public enum MaxStale: Sendable, Equatable {
        /// Any staleness.
        case unlimited
        /// At most this many seconds.
        case seconds(Int)
    }

    /// Do not respond from the cache without validation. RFC 9111 §5.2.1.4, or `Pragma: no-cache` without
    /// `Cache-Control` (§5.4).
    public var noCache: Bool
    /// Do not store the response. RFC 9111 §5.2.1.5.
    public var noStore: Bool
    /// Do not go to the network. RFC 9111 §5.2.1.7.
    public var onlyIfCached: Bool
    /// The age up to which the client accepts a response, in seconds; an invalid one counts as 0. RFC 9111 §5.2.1.1.
    public var maxAge: Int?
    /// How long the response must stay fresh from now on, in seconds; an invalid one asks for more than any response
    /// has. RFC 9111 §5.2.1.3.
    public var minFresh: Int?
    /// How stale a response may be; an invalid one permits nothing. RFC 9111 §5.2.1.2.
    public var maxStale: MaxStale?
    /// How stale a response may be when the origin fails, in seconds; an invalid one permits nothing. RFC 5861 §4.
    public var staleIfError: Int?

    /// The directives of a request without any.
    public static let none = RequestDirectives([:])

    /// Reads the header fields of a request.
    public init(_ fields: HTTPFields) {
        let control = CacheControl(fields)
        // RFC 9111 §5.4: Pragma counts only without Cache-Control.
        let pragma = !fields.contains(.cacheControl) && CacheControl(fields, field: .pragma).contains("no-cache")
        noCache = control.contains("no-cache") || pragma
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.deltaSeconds("max-age").map { $0.value ?? 0 }
        minFresh = control.deltaSeconds("min-fresh").map { $0.value ?? Int.max }
        staleIfError = control.deltaSeconds("stale-if-error")?.value
        maxStale = Self.maxStale(control)
    }

    private static func maxStale(_ control: CacheControl) -> MaxStale? {
        let arguments = control.directives.filter { $0.name == "max-stale" }.map(\.argument)
        guard let first = arguments.first, arguments.allSatisfy({ $0 == first }) else { return nil }
        return switch first {
        case .none: .unlimited
        case .value(let text): DeltaSeconds(text).value.map(MaxStale.seconds)
        case .invalid: nil
        }
    }
}
