public import Database
import GRDB

/// Notifies of the stored responses that a committed transaction has removed, by any statement, trigger or cascade.
///
/// GRDB calls it on the writer's queue only, so its state needs no lock.
final class ResponseRemoval: TransactionObserver {
    private let notify: @Sendable (CachedResponse.ID) -> Void
    private var removed: [CachedResponse.ID] = []

    init(_ notify: @escaping @Sendable (CachedResponse.ID) -> Void) {
        self.notify = notify
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if case .delete(tableName: "stored_response") = eventKind { return true }
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) { removed.append(event.rowID) }

    func databaseDidCommit(_ db: Database) {
        for id in removed { notify(id) }
        removed = []
    }

    func databaseDidRollback(_ db: Database) { removed = [] }
}

extension LarderDatabase {
    /// Notifies `notify` of each stored response that is removed from now on, by eviction, purge, logout or
    /// replacement.
    ///
    /// - Parameter notify: Is called after the removal is visible and before the write returns, on the writer's thread.
    ///   It must not block.
    public func onRemovalOfResponses(_ notify: @escaping @Sendable (CachedResponse.ID) -> Void) {
        pool.add(transactionObserver: ResponseRemoval(notify), extent: .databaseLifetime)
    }
}
