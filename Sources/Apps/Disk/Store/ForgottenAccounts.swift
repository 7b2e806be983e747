import GRDB
import Synchronization

/// Notifies of accounts that were removed here because another server has logged them out: work under way for them
/// ends.
final class ForgottenAccounts: Sendable {
    /// A function that is itself the value of a mutex is wrapped once more by each access to it.
    private struct State {
        var listener: (@Sendable (_ account: String) -> Void)?
    }

    private let state = Mutex(State())

    /// Registers the listener; there is one.
    func listen(_ listener: @escaping @Sendable (_ account: String) -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Tells of an account after the transaction has been committed.
    func send(_ account: String, after db: Database) {
        db.afterNextTransaction { [self] _ in state.withLock { $0.listener }?(account) }
    }
}
