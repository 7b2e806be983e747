import GRDB
import Synchronization

/// Remembers which accounts have marks, and notifies listeners of changes of their marks and files.
///
/// Most accounts have none, and rows of lists are made too often to ask the database each time.
final class OfflineSignal: Sendable {
    /// Of several servers: is called with the numbers of marks whose files are gone, and the epoch at which that was
    /// seen.
    typealias RemovalListener = @Sendable (_ account: String, _ numbers: [Int64], _ epoch: Int64) -> Void

    private struct State {
        /// Accounts that have marks, or had some in this process; nil before the first look.
        var accounts: Set<String>?
        var listener: (@Sendable (_ account: String) -> Void)?
        var removalListener: RemovalListener?
    }

    private let state = Mutex(State())

    /// Registers the function that is notified of an account whose marks or files have changed.
    func listen(_ listener: @escaping @Sendable (_ account: String) -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Registers the function that is notified of marks whose files are gone.
    func onRemoval(_ listener: @escaping RemovalListener) {
        state.withLock { $0.removalListener = listener }
    }

    /// Notifies of marks whose files are gone, after the transaction has been committed.
    func removed(_ numbers: [Int64], of account: String, epoch: Int64, after db: Database) {
        db.afterNextTransaction { [self] _ in state.withLock { $0.removalListener }?(account, numbers, epoch) }
    }

    /// Whether an account may have marks.
    ///
    /// - Throws: GRDB's errors.
    func mayHaveMarks(_ account: String, _ db: Database) throws -> Bool {
        if let accounts = state.withLock({ $0.accounts }) { return accounts.contains(account) }
        let accounts = Set(try String.fetchAll(db, sql: "SELECT DISTINCT account FROM disk_offline"))
        return state.withLock { state in
            // Paths that were marked in the meantime are already in the set.
            state.accounts = accounts.union(state.accounts ?? [])
            return state.accounts?.contains(account) ?? false
        }
    }

    /// Notifies of a change after the transaction has been committed.
    func changed(_ account: String, after db: Database) {
        db.afterNextTransaction { [self] _ in changed(account) }
    }

    /// Notifies of a change.
    func changed(_ account: String) {
        state.withLock { state in
            state.accounts?.insert(account)
            return state.listener
        }?(account)
    }
}
