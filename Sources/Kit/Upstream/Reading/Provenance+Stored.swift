import Foundation
import Freshness
import HTTPCaching
import HTTPTypes

extension Provenance {
    /// The provenance of a stored copy.
    static func stored(
        _ source: Source = .upstream,
        at validatedAt: Date,
        contentFetchedAt: Date? = nil,
        _ cacheStatus: CacheStatus,
        offline: Bool,
        stale: Bool
    ) -> Provenance {
        Provenance(
            source: source,
            offline: offline,
            stale: stale,
            validatedAt: validatedAt,
            contentFetchedAt: contentFetchedAt,
            cacheStatus: cacheStatus
        )
    }

    /// Returns the provenance of a stored copy that is served in place of a failed request.
    ///
    /// - Parameters:
    ///   - error: Why the request failed.
    ///   - source: Whether the copy is a response of the upstream, or bundled.
    ///   - storedAt: When the copy was last validated.
    ///   - contentFetchedAt: When its content was first received; nil if that is `storedAt`.
    ///   - reason: Why the request was forwarded.
    /// - Returns: Nil if the failure is news that no copy may hide.
    static func serveStale(
        for error: UpstreamError,
        source: Source = .upstream,
        storedAt: Date,
        contentFetchedAt: Date? = nil,
        because reason: CacheStatus.Forward
    ) -> Provenance? {
        let detail: String
        let cause = error.cause
        switch cause {
        case .unreachable: detail = error.wasSent ? "unreachable" : "offline"
        case .failing: detail = "stale-if-error"
        case .badResponse, .forbiddenTarget: detail = "bad-response"
        case .storageFailed(let isFull): detail = isFull ? "storage-full" : "storage-failed"
        case .rejected, .notStored, .known: return nil
        }
        let isOffline = if case .unreachable = cause { true } else { false }
        return stored(
            source,
            at: storedAt,
            contentFetchedAt: contentFetchedAt,
            error.wasSent
                ? CacheStatus(.forward(reason), forwardStatus: error.status?.code, detail: detail)
                : CacheStatus(.hit, detail: detail),
            offline: isOffline,
            stale: true
        )
    }
}
