import Foundation
package import GRDB
import GRDBSQLite
import Logging
import Synchronization

extension LarderDatabase {
    /// Changes the database in one transaction that deletes more than it adds, as `write` does. Works on a
    /// full disk, too: `updates` then runs again, in the space of the write-ahead log, and if that does not suffice in
    /// that of a reserve.
    ///
    /// - Throws: ``StorageError``, `CancellationError`, or an error of `updates`.
    package func writeFreeingRoom<Value: Sendable>(_ updates: @Sendable @escaping (Database) throws -> Value)
        async throws -> Value
    {
        do {
            return try await write(updates)
        } catch StorageError.diskFull {
            do {
                return try await pool.writeWithoutTransaction { try self.transactOnFullDisk($0, updates) }
            } catch {
                throw translating(error)
            }
        }
    }

    /// Changes the database as `write` does, for records without which a response is as good, such as that of
    /// a use: a read does not fail because the disk is too full to record it. ``maintain()`` reports that the disk is.
    ///
    /// - Throws: ``StorageError`` other than a full disk, `CancellationError`, or an error of `updates`.
    package func writeIfRoom(_ updates: @Sendable @escaping (Database) throws -> Void) async throws {
        do {
            try await write(updates)
        } catch StorageError.diskFull {
            logger.debug("a record was not written, because the disk is full")
        }
    }

    /// Deletes private data in one transaction, as ``writeFreeingRoom(_:)`` does, and then empties the write-ahead log,
    /// which still has the old pages. A reader may prevent that for now; ``maintain()`` does it later.
    ///
    /// - Throws: ``StorageError``, `CancellationError`, or an error of `updates`.
    package func writeErasing<Value: Sendable>(_ updates: @Sendable @escaping (Database) throws -> Value)
        async throws -> Value
    {
        let value = try await writeFreeingRoom(updates)
        mustEmptyLog.store(true, ordering: .relaxed)
        await emptyLog()
        return value
    }

    /// Completes earlier writes: allocates the reserve again if it was used or lost, and empties the write-ahead log
    /// after private data was deleted. To be called every few seconds.
    package func maintain() async {
        if mustEmptyLog.load(ordering: .relaxed) { await emptyLog() }
        if !reserve.isWhole {
            reserve.take()
            if !reserve.isWhole {
                await emptyLog()
                reserve.take()
            }
        }
        let isWhole = reserve.isWhole
        guard hadReserve.exchange(isWhole, ordering: .relaxed) != isWhole else { return }
        if isWhole {
            logger.notice("the space reserved for deleting is allocated again")
        } else {
            logger.warning(
                "the disk is too full to reserve space for deleting",
                metadata: [
                    "allocated": .stringConvertible(reserve.allocated), "wanted": .stringConvertible(DiskReserve.bytes),
                ]
            )
        }
    }

    /// Checks that the disk has space for writing.
    ///
    /// - Throws: ``StorageError/diskFull(path:)``.
    package func checkSpace() throws {
        guard SpaceProbe(in: directory.path).hasSpace() else { throw StorageError.diskFull(path: directory.path) }
    }

    private func transactOnFullDisk<Value>(_ db: Database, _ updates: (Database) throws -> Value) throws -> Value {
        // Pages that are moved into the database leave their place in the log to new ones.
        checkpoint(db, .restart)
        do {
            return try transact(db, updates)
        } catch {
            guard case .diskFull = translating(error) as? StorageError else { throw error }
        }
        try reserve.release()
        defer { reserve.take() }
        let value = try transact(db, updates)
        checkpoint(db, .truncate)
        return value
    }

    private func emptyLog() async {
        do {
            let isEmpty = try await pool.writeWithoutTransaction { self.checkpoint($0, .truncate) }
            if isEmpty { mustEmptyLog.store(false, ordering: .relaxed) }
        } catch {
            // The task was cancelled, or the database is closed: closing empties the log, too.
        }
    }

    /// Moves the log into the database, without waiting for readers that still use it.
    ///
    /// - Returns: Whether all of it was moved.
    @discardableResult
    private func checkpoint(_ db: Database, _ mode: Database.CheckpointMode) -> Bool {
        do {
            // Not by a PRAGMA: GRDB runs no statement in a cancelled task, and a timeout of 0 would stay.
            sqlite3_busy_timeout(db.sqliteConnection, 0)
            defer { sqlite3_busy_timeout(db.sqliteConnection, Int32(options.busyTimeout * 1000)) }
            try db.checkpoint(mode)
            return true
        } catch {
            // A reader uses the log, or there is no space for the pages in the database either. The log stays valid.
            return false
        }
    }
}
