import Foundation
import Freshness
import HTTPCaching
import HTTPTypes

extension Provenance {
    /// The account of a stored copy.
    static func stored(
        at validatedAt: Date,
        contentFetchedAt: Date? = nil,
        _ cacheStatus: CacheStatus,
        offline: Bool,
        stale: Bool
    ) -> Provenance {
        Provenance(
            source: .cache,
            offline: offline,
            stale: stale,
            validatedAt: validatedAt,
            contentFetchedAt: contentFetchedAt,
            cacheStatus: cacheStatus
        )
    }

    /// The account of a stored copy that stands in for a failed request; nil where the failure is news that no copy may
    /// hide.
    static func serveStale(
        for error: UpstreamError,
        storedAt: Date,
        contentFetchedAt: Date? = nil,
        because reason: CacheStatus.Forward
    ) -> Provenance? {
        switch error {
        case .unreachable:
            return stored(
                at: storedAt,
                contentFetchedAt: contentFetchedAt,
                CacheStatus(.forward(reason), detail: "unreachable"),
                offline: true,
                stale: true
            )
        case .failing(let status, _):
            return stored(
                at: storedAt,
                contentFetchedAt: contentFetchedAt,
                CacheStatus(.forward(reason), forwardStatus: status.code, detail: "stale-if-error"),
                offline: false,
                stale: true
            )
        case .badResponse(let status, _):
            return stored(
                at: storedAt,
                contentFetchedAt: contentFetchedAt,
                CacheStatus(.forward(reason), forwardStatus: status?.code, detail: "bad-response"),
                offline: false,
                stale: true
            )
        case .forbiddenTarget:
            return stored(
                at: storedAt,
                contentFetchedAt: contentFetchedAt,
                CacheStatus(.forward(reason), detail: "bad-response"),
                offline: false,
                stale: true
            )
        case .rejected, .notStored:
            return nil
        }
    }
}
