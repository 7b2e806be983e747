import GRDB
import Synchronization

/// Tells of accounts that were removed here since another server has logged them out: what is under way for them ends.
final class ForgottenAccounts: Sendable {
    private let listener = Mutex<(@Sendable (_ account: String) -> Void)?>(nil)

    /// Registers the listener; there is one.
    func listen(_ listener: @escaping @Sendable (_ account: String) -> Void) {
        self.listener.withLock { $0 = listener }
    }

    /// Tells of an account after the transaction has been committed.
    func send(_ account: String, after db: Database) {
        db.afterNextTransaction { [self] _ in listener.withLock { $0 }?(account) }
    }
}
