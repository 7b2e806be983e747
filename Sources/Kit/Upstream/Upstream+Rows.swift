public import Foundation
import HTTPCaching
import NIOCore

extension Upstream {
    /// The account of a response made from rows that an app keeps for ever, whatever became of the response that they came
    /// with: nobody is asked.
    ///
    /// The same as a ``read(_:_:)`` of a resource without an end of freshness whose copy was stored at `fetchedAt`; its
    /// ``ReadResult/response`` is nil.
    /// - Parameter fetchedAt: When the rows were fetched.
    public func reading(ofRowsFetchedAt fetchedAt: Date) -> ReadResult {
        let seen = ChangeToken(of: health.stamp)
        let (now, instant) = (clock.now(), NIODeadline.now())
        let age = max(0, now.timeIntervalSince(fetchedAt))
        let timeToLive = Int(Double(Int32.max) - age)
        let isReachable = reachability.isReachable
        let cacheStatus = CacheStatus(.hit, timeToLive: timeToLive, detail: isReachable ? nil : "offline")
        return ReadResult(
            response: nil,
            provenance: Provenance(
                source: .cache,
                offline: !isReachable,
                validatedAt: fetchedAt,
                cacheStatus: cacheStatus
            ),
            changeToken: seen.ending(at: nil, age: RunningAge(seconds: age, timeToLive: timeToLive, at: instant))
        )
    }
}
