import Foundation
import HTTPCaching
import NIOCore
import Storage

extension Mount {
    /// What a response is made from, as it stood before anything was looked at.
    struct Look: Sendable {
        fileprivate let seen: ChangeToken
        fileprivate let unremoved: ChangeToken
    }

    /// To be taken before the store is read.
    func look(for inquiry: ProxiedRequest) -> Look {
        Look(
            seen: ChangeToken(of: upstream.health.stamp, changes[inquiry.key]),
            unremoved: upstream.removals.snapshot()
        )
    }

    /// For how long the same request would be served the same response: while it is fresh, nothing is stored or removed
    /// under its URL, and the upstream is as reachable as it is.
    ///
    /// nil where it would not be the same the next time: a stale one is validated, directives of the request ask for
    /// more than freshness (RFC 9111 §5.2.1), and an account's own token is looked up for each request.
    func changeToken(of reuse: Reuse, _ stored: CachedResponse, _ inquiry: ProxiedRequest, since look: Look)
        -> ChangeToken?
    {
        let (now, instant) = (upstream.clock.now(), NIODeadline.now())
        let freshness = policy.freshness(of: reuse.stored, at: now)
        guard let id = stored.id, reuse.revalidation == nil, freshness.isFresh, inquiry.directives == .none,
            !inquiry.isOnBehalf,
            let kept = upstream.removals.changeToken(of: id, since: look.unremoved)
        else { return nil }
        let uses = AccessReporter { [upstream] in upstream.accessRecorder.note(id, at: upstream.clock.now()) }
        return look.seen.and(kept).noting(uses).ending(
            // Within the range of the unit, as for screens.
            at: instant + .nanoseconds(Int64(min(max(0, -freshness.staleness), 1e9) * 1e9)),
            age: RunningAge(seconds: reuse.stored.age(at: now), timeToLive: freshness.timeToLive, at: instant)
        )
    }
}
