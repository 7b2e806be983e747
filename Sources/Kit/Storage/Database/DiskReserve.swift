import Foundation
package import GRDB
import GRDBSQLite
import Logging
import Synchronization

/// Space on the disk that is reserved for deleting and for starting: SQLite needs some to record the changed pages, and
/// a full disk has none.
struct DiskReserve: Sendable {
    /// Size in bytes: a multiple of the pages that a deletion changes.
    static let bytes = 1 << 20

    let path: String

    /// The smallest reserve in bytes that is of use.
    static let least = 1 << 16

    /// Size in bytes that is allocated now.
    var allocated: Int { Int(fileStatus(path, follows: true)?.st_size ?? 0) }

    /// Whether the reserve has its full size.
    var isWhole: Bool { allocated >= Self.bytes }

    /// Allocates the reserve, or as much of it as there is space for. Keeps the space that is already allocated.
    func take() {
        // Without it everything works except deletions and starts on a full disk, and `restoreReserve` tries again.
        guard let file = try? OpenFile(path, O_RDWR | O_CREAT) else { return }
        let before = allocated
        var bytes = Self.bytes
        while bytes > before, bytes >= Self.least, posix_fallocate(file.descriptor, 0, off_t(bytes)) != 0 {
            ftruncate(file.descriptor, off_t(before))
            bytes /= 2
        }
    }

    func release() throws {
        let file = try OpenFile(path, O_RDWR | O_CREAT)
        try StorageError.check("ftruncate", path) { ftruncate(file.descriptor, 0) }
    }

    /// Runs a step, and if the disk is full, a second time with the space of the reserve; without it if there is space
    /// again.
    ///
    /// - Throws: The error of the second run, or of the first one if it failed for another reason.
    func lending<Value>(_ step: () throws -> Value) throws -> Value {
        do {
            return try step()
        } catch let error as StorageError {
            if Self.mayLackSpace(error) { return try step() }
            guard case .diskFull = error, allocated > 0 else { throw error }
            try release()
            defer { take() }
            return try step()
        }
    }

    /// Whether SQLite may have found no space for a file beside the database, though there is some now. SQLite does not
    /// say why it could not create a file, or the index of the write-ahead log (`SQLITE_IOERR_SHMOPEN`, `_SHMSIZE`).
    /// Neither error is lasting, so the step can run again.
    private static func mayLackSpace(_ error: StorageError) -> Bool {
        switch error {
        case .inputOutput(_, "SQLite", 4618), .inputOutput(_, "SQLite", 4874), .notWritable: true
        default: false
        }
    }
}

/// A test of whether a file system has space, by a small file that is removed again.
package struct SpaceProbe: Sendable {
    private let path: String

    package init(in folder: String) {
        path = folder + "/larder.probe"
    }

    /// Returns whether disk and quota have space for a few pages. Faults of another kind count as space: other errors
    /// describe them better.
    package func hasSpace() -> Bool {
        defer { unlink(path) }
        do {
            let file = try OpenFile(path, O_RDWR | O_CREAT)
            return ![ENOSPC, EDQUOT].contains(posix_fallocate(file.descriptor, 0, off_t(DiskReserve.least)))
        } catch StorageError.diskFull {
            return false
        } catch {
            return true
        }
    }

    /// Translates an error whose cause is a full disk or an exhausted quota. SQLite reports `SQLITE_FULL` only if it
    /// writes pages itself and the disk, not the quota, is full. Otherwise it reports an error of input and output, or
    /// a file that cannot be opened.
    package func explaining(_ error: any Error, path: String) -> any Error {
        switch StorageError.translating(error, path: path) as? StorageError {
        case .inputOutput, .notWritable: hasSpace() ? error : StorageError.diskFull(path: path)
        default: error
        }
    }
}

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

    /// Changes the database as `write` does, for records that a response does not depend on, such as that of a use. A
    /// read does not fail because the disk is too full for the record; ``maintain()`` reports the full disk.
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
