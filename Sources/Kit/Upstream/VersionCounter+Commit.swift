public import Freshness
public import GRDB

extension VersionCounter {
    /// Bumps the counter when the current transaction has been committed; not at all if it is rolled back.
    ///
    /// The bump happens before the write returns, so no response that was made before the change is replayed after the
    /// change was acknowledged.
    public func bump(afterCommitOf db: Database) {
        db.afterNextTransaction { _ in self.bump() }
    }
}
