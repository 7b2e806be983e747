import Foundation
import GRDB
import GRDBSQLite
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
            let isDiskFull = Self.isCausedByFullDisk(error, db)
            try? notifyMissedRollback(db)
            throw isDiskFull ? StorageError.diskFull(path: directory.databasePath) : error
        }
        blobs.removal.end(.committed)
        blobs.removal.run(db)
        return try value.get()
    }

    /// Whether an error that SQLite reports as one of input and output is a full disk, or quota: it tells them apart only where
    /// it writes pages itself.
    private static func isCausedByFullDisk(_ error: any Error, _ db: Database) -> Bool {
        guard (error as? DatabaseError)?.resultCode == .SQLITE_IOERR else { return false }
        return [ENOSPC, EDQUOT].contains(sqlite3_system_errno(db.sqliteConnection))
    }

    /// SQLite rolls back by itself if the disk is full or fails, and GRDB notifies no observer of that (`TransactionObserver.swift`,
    /// `statementDidFail`): what observers have collected would count for the next commit. Rolling back an empty transaction
    /// notifies them; it touches no file.
    private func notifyMissedRollback(_ db: Database) throws {
        guard hasMissedRollback.load(ordering: .relaxed), !db.isInsideTransaction else { return }
        try db.beginTransaction(.deferred)
        try db.rollback()
        hasMissedRollback.store(false, ordering: .relaxed)
    }
}
