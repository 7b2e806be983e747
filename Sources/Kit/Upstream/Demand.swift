/// What a client asks of the freshness of an answer (RFC 9111 §5.2.1, as far as screens know it).
public enum Demand: Sendable, Equatable {
    /// Network first within the patience, else the stored copy.
    case usual
    /// `Cache-Control: no-cache` or `?refresh=1`: always ask the upstream.
    case refresh
    /// `Cache-Control: only-if-cached`: never ask the upstream.
    case onlyIfCached
}
