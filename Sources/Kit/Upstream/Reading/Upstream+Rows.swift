public import Foundation
import Freshness
import HTTPCaching
import NIOCore

extension Upstream {
    /// Returns the result of a read that is served from rows which an app keeps without an end, whether or not their
    /// response is still stored. The upstream is not asked, except for a probe if it is marked down.
    ///
    /// The same as a `read(_:_:)` of a resource without an end of freshness whose copy was stored at `fetchedAt`.
    /// - Parameter fetchedAt: When the rows were fetched.
    /// - Returns: A result without ``ReadResult/response``.
    public func result(ofRowsFetchedAt fetchedAt: Date) -> ReadResult {
        let seen = ChangeToken(of: client.reachabilityVersion)
        let (now, instant) = (clock.now(), NIODeadline.now())
        let age = abs(now.timeIntervalSince(fetchedAt))
        let timeToLive = Int(Double(Int32.max) - age)
        let isReachable = reachability.isReachable
        if !isReachable { client.probeIfIdle() }
        // The next read may start a probe.
        let end = isReachable ? nil : instant + .nanoseconds(Int64(UpstreamHealth.shortestProbeInterval * 1e9))
        let cacheStatus = CacheStatus(.hit, timeToLive: timeToLive, detail: isReachable ? nil : "offline")
        return ReadResult(
            response: nil,
            provenance: Provenance(
                source: .upstream,
                offline: !isReachable,
                validatedAt: fetchedAt,
                cacheStatus: cacheStatus
            ),
            changeToken: seen.ending(at: end, age: RunningAge(seconds: age, timeToLive: timeToLive, at: instant))
        )
    }
}
