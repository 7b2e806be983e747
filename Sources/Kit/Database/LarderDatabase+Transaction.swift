import GRDB
import Synchronization

extension LarderDatabase {
    /// One transaction on the writer's queue, with all that follows from how it ended.
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
            // With a full disk the last frame is not whole, so nothing can be found committed later.
            let isFull = (error as? DatabaseError)?.resultCode == .SQLITE_FULL
            blobs.removal.end(isCommitting && !isFull ? .unknown : .rolledBack)
            hasMissedRollback.store(true, ordering: .relaxed)
            // Where this fails, as in a task that was cancelled, the next transaction does it.
            let isDiskFull = isCausedByFullDisk(error)
            try? notifyMissedRollback(db)
            throw isDiskFull ? StorageError.diskFull(path: directory.databasePath) : error
        }
        blobs.removal.end(.committed)
        blobs.removal.run(db)
        return try value.get()
    }

    /// Whether an error that SQLite reports as one of input and output is a full disk, or quota: SQLite tells that only
    /// where it writes pages itself and the disk, not the quota, is full. So the disk is asked for a little room.
    private func isCausedByFullDisk(_ error: any Error) -> Bool {
        guard (error as? DatabaseError)?.resultCode == .SQLITE_IOERR else { return false }
        return !DiskReserve(path: directory.path + "/larder.probe").isRoom()
    }

    /// SQLite rolls back by itself if the disk is full or fails, and GRDB notifies no observer of that
    /// (`TransactionObserver.swift`, `statementDidFail`): what observers have collected would count for the next
    /// commit. Rolling back an empty transaction notifies them; it touches no file.
    private func notifyMissedRollback(_ db: Database) throws {
        guard hasMissedRollback.load(ordering: .relaxed), !db.isInsideTransaction else { return }
        try db.beginTransaction(.deferred)
        try db.rollback()
        hasMissedRollback.store(false, ordering: .relaxed)
    }
}
