public import Database
import GRDB

/// Tells which stored responses a transaction has removed, once it is committed; whichever statement, trigger or
/// cascade removed them.
///
/// GRDB calls it on the writer's queue only, so its state needs no lock.
final class ResponseRemoval: TransactionObserver {
    private let told: @Sendable (CachedResponse.ID) -> Void
    private var removed: [CachedResponse.ID] = []

    init(_ told: @escaping @Sendable (CachedResponse.ID) -> Void) {
        self.told = told
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if case .delete(tableName: "stored_response") = eventKind { return true }
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) { removed.append(event.rowID) }

    func databaseDidCommit(_ db: Database) {
        for id in removed { told(id) }
        removed = []
    }

    func databaseDidRollback(_ db: Database) { removed = [] }
}

extension LarderDatabase {
    /// Calls this for each stored response that is removed from now on, by eviction, purge, logout or a newer answer in
    /// its place: after the removal can be seen, and before whoever wrote the transaction is told that it is done. It
    /// is called on the writer's thread and must not wait for anything.
    public func onRemovalOfResponses(_ told: @escaping @Sendable (CachedResponse.ID) -> Void) {
        pool.add(transactionObserver: ResponseRemoval(told), extent: .databaseLifetime)
    }
}
