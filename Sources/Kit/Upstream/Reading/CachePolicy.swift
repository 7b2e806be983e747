/// How a read may be served from the store (RFC 9111 §5.2.1, as far as screens support it).
public enum CachePolicy: Sendable, Equatable {
    /// Network first within the patience, else the stored copy.
    case useCache
    /// `Cache-Control: no-cache` or `?refresh=1`: always ask the upstream.
    case revalidate
    /// `Cache-Control: only-if-cached`: never ask the upstream.
    case onlyIfCached
}
