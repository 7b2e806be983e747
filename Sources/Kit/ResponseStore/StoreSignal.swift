public import Database
import GRDB

/// Signals each committed transaction that stored something cacheable. Recorded uses do not count.
final class StoreSignal: TransactionObserver {
    private let continuation: AsyncStream<Void>.Continuation
    private var hasStored = false

    init(_ continuation: AsyncStream<Void>.Continuation) {
        self.continuation = continuation
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        switch eventKind {
        case .insert(let table): Self.tables.contains(table)
        case .update(let table, let columns): Self.tables.contains(table) && columns.contains("size")
        case .delete: false
        }
    }

    func databaseDidChange(with event: DatabaseEvent) { hasStored = true }

    func databaseDidCommit(_ db: Database) {
        if hasStored { continuation.yield() }
        hasStored = false
    }

    func databaseDidRollback(_ db: Database) { hasStored = false }

    private static let tables: Set<String> = ["stored_response", "page"]
}

extension LarderDatabase {
    /// Returns a stream with an element after each transaction that stored responses or page lists. Elements that were
    /// not consumed yet are merged into one. For one consumer, which ends it by ending its own task.
    public func stores() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        pool.add(transactionObserver: StoreSignal(continuation), extent: .databaseLifetime)
        return stream
    }
}
