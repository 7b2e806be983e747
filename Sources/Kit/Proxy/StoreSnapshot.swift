import Foundation
import Freshness
import HTTPCaching
import NIOCore
import ResponseStore
import Upstream

/// What a response depends on, as it was before the store was read.
struct StoreSnapshot: Sendable {
    private let seen: ChangeToken
    private let unremoved: ChangeToken
    /// When it was taken: the time at which the stored responses are assessed.
    let now: Date
    private let instant: NIODeadline

    /// Takes a snapshot. To be taken before the store is read.
    init(of mount: Mount, for request: ProxiedRequest) {
        (now, instant) = (mount.upstream.clock.now(), NIODeadline.now())
        seen = ChangeToken(of: mount.upstream.client.reachabilityVersion, mount.store.changes[request.key])
        unremoved = mount.store.removalSnapshot()
    }

    /// Returns a token that holds while the same request would get the same response: while the response is fresh,
    /// nothing is stored or removed under its URL, and the upstream's reachability stays as it is.
    ///
    /// - Parameter reuse: How the response was assessed at ``now``.
    /// - Returns: Nil if the next response may differ: a stale one is validated, directives of the request ask for more
    ///   than freshness (RFC 9111 §5.2.1), and an account's own token is looked up for each request.
    func changeToken(of reuse: Reuse, _ stored: CachedResponse, _ request: ProxiedRequest, in mount: Mount)
        -> ChangeToken?
    {
        let freshness = reuse.freshness
        guard let id = stored.id, reuse.revalidation == nil, freshness.isFresh, request.directives == .none,
            !request.isOnBehalf, let kept = mount.store.changeToken(of: id, since: unremoved)
        else { return nil }
        return seen.and(kept).ending(
            // Within the range of the unit, as for screens.
            at: instant + .nanoseconds(Int64(min(max(0, -freshness.staleness), 1e9) * 1e9)),
            age: RunningAge(seconds: reuse.exactAge, timeToLive: freshness.timeToLive, at: instant)
        )
    }
}
