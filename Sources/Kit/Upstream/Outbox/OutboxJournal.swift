/// The operations of an outbox, in the database that has them: the truth, of which ``Outbox`` has a copy in memory.
///
/// Each function is part of a transaction. It is in the server's own database (``LocalOutboxJournal``), or an app has
/// one in the store that servers share.
package protocol OutboxJournal: Sendable {
    /// A transaction of the database.
    associatedtype Transaction

    /// Stores an operation, and gives a new one its number. One that is done leaves its bytes, and all but the latest
    /// (``OutboxRow/keptFinished``) of those that are done are removed.
    func put<Work>(_ entry: inout OutboxEntry<Work>, _ transaction: Transaction) throws

    func remove(_ id: String, _ transaction: Transaction) throws

    /// Removes all operations of an account.
    func removeAll(of account: String, _ transaction: Transaction) throws

    /// Returns the operations that are not done, in order. A row that cannot be read is an error: no operation is
    /// dropped.
    func unfinished<Work>(_ transaction: Transaction) throws -> [OutboxEntry<Work>]

    /// Returns an operation, also one that is done; nil if there is none.
    func entry<Work>(_ id: String, account: String, _ transaction: Transaction) throws -> OutboxEntry<Work>?
}

extension OutboxJournal {
    /// Makes changes.
    ///
    /// - Returns: The changes, with the numbers of the operations that were put.
    package func make<Work>(_ changes: [OutboxChange<Work>], _ transaction: Transaction) throws -> [OutboxChange<Work>]
    {
        try changes.map { change in
            switch change {
            case .put(var entry):
                try put(&entry, transaction)
                return .put(entry)
            case .remove(let entry):
                try remove(entry.id, transaction)
                return change
            }
        }
    }
}
