import Database
package import Freshness
import NIOCore

/// Stamps of stored responses, bumped when one is removed. A response made from one that was evicted, purged or wiped
/// must not outlive it.
package struct RemovalCounter: Sendable {
    private let all = VersionCounter()
    private let each = VersionCounters()

    /// Creates a counter of nothing removed yet.
    package init() {}

    /// A response was removed.
    package func removed(_ id: CachedResponse.ID) {
        // In this order: a reader who took the stamp of the one after its bump sees that of all bumped as well.
        all.bump()
        each[id].bump()
    }

    /// To be taken before a stored response is looked for: which one it will be is not known then.
    package func snapshot() -> ChangeToken { ChangeToken(of: all) }

    /// Holds for as long as the response that was found is stored; nil where one was removed since `before`, and it may
    /// have been this one.
    package func changeToken(of id: CachedResponse.ID, since before: ChangeToken) -> ChangeToken? {
        let changeToken = ChangeToken(of: each[id])
        return before.holds(at: .distantPast) ? changeToken : nil
    }
}
