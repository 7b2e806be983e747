import GRDB
import Synchronization

extension LarderDatabase {
    /// Runs one transaction on the writer's queue. After it, removes the files that its outcome allows to remove, or
    /// notifies observers of a rollback that GRDB has missed.
    func transact<Value>(_ db: Database, _ updates: (Database) throws -> Value) throws -> Value {
        try notifyMissedRollback(db)
        var value: Result<Value, any Error> = .failure(CancellationError())
        var isCommitting = false
        do {
            try db.inTransaction {
                value = .success(try updates(db))
                isCommitting = true
                return .commit
            }
        } catch {
            // With a full disk the last frame is incomplete, so nothing can be found committed later.
            let isFull = (error as? DatabaseError)?.resultCode == .SQLITE_FULL
            blobs.removal.end(isCommitting && !isFull ? .unknown : .rolledBack)
            hasMissedRollback.store(true, ordering: .relaxed)
            let cause = SpaceProbe(in: directory.path).explaining(error, path: directory.databasePath)
            // If this fails, as in a cancelled task, the next transaction notifies them.
            try? notifyMissedRollback(db)
            throw cause
        }
        blobs.removal.end(.committed)
        blobs.removal.run(db)
        return try value.get()
    }

    /// Notifies observers of a rollback that GRDB has missed.
    ///
    /// SQLite rolls back by itself if the disk is full or fails, and GRDB notifies no observer of that
    /// (`TransactionObserver.swift`, `statementDidFail`): observers would apply their collected changes with the next
    /// commit. Rolling back an empty transaction notifies them and touches no file.
    private func notifyMissedRollback(_ db: Database) throws {
        guard hasMissedRollback.load(ordering: .relaxed), !db.isInsideTransaction else { return }
        try db.beginTransaction(.deferred)
        try db.rollback()
        hasMissedRollback.store(false, ordering: .relaxed)
    }
}
