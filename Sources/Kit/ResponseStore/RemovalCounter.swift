import Database
package import Freshness
import NIOCore

/// Counts removals of stored responses. A rendered response must not outlive the stored one, which may be evicted,
/// purged or deleted.
package struct RemovalCounter: Sendable {
    private let all = VersionCounter()
    private let each = VersionCounters()

    /// Creates a counter without removals.
    package init() {}

    /// Counts the removal of a response.
    package func removed(_ id: CachedResponse.ID) {
        // In this order: a reader that takes the counter of one after its bump also sees the bump of all.
        all.bump()
        each[id].bump()
    }

    /// Returns a token of all removals, to be taken before a stored response is looked up.
    package func snapshot() -> ChangeToken { ChangeToken(of: all) }

    /// Returns a token that holds while the response is stored; nil if one was removed since `before`, because it may
    /// have been this one.
    package func changeToken(of id: CachedResponse.ID, since before: ChangeToken) -> ChangeToken? {
        let changeToken = ChangeToken(of: each[id])
        return before.holds(at: .distantPast) ? changeToken : nil
    }
}
