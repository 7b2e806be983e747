import Foundation
import Upstream

/// How a row says that a write of it waits.
struct PendingWrite: Sendable, Equatable {
    /// Its name in addresses.
    var id: String
    /// The name of its kind on screens.
    var kind: String
    /// When it was queued.
    var since: Date
    var state: OutboxState

    init(_ entry: OutboxEntry<QueuedWrite>) {
        id = entry.id
        kind = entry.work.name
        since = entry.queuedAt
        state = entry.progress.state
    }
}
