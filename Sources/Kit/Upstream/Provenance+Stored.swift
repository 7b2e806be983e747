import HTTPCaching
import Storage

extension Provenance {
    /// The account of a stored copy.
    static func stored(_ answer: StoredAnswer, _ cacheStatus: CacheStatus, offline: Bool, stale: Bool) -> Provenance {
        Provenance(source: .cache, offline: offline, stale: stale, fetchedAt: answer.response.responseTime, cacheStatus: cacheStatus)
    }

    /// The account of a stored copy that stands in for a failed request; nil where the failure is news that no copy may hide.
    static func standIn(for error: UpstreamError, stored answer: StoredAnswer, because reason: CacheStatus.Forward) -> Provenance? {
        switch error {
        case .unreachable:
            return stored(answer, CacheStatus(.forward(reason), detail: "unreachable"), offline: true, stale: true)
        case .failing(let status, _):
            return stored(answer, CacheStatus(.forward(reason), forwardStatus: status.code, detail: "stale-if-error"), offline: false, stale: true)
        case .badAnswer(let status, _):
            return stored(answer, CacheStatus(.forward(reason), forwardStatus: status?.code, detail: "bad-response"), offline: false, stale: true)
        case .rejected, .forbiddenTarget, .notStored:
            return nil
        }
    }
}
