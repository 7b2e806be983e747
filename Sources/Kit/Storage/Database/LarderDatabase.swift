import Foundation
package import GRDB
package import Logging
import Synchronization

/// The database of a Larder: SQLite in WAL mode with one writer and several readers that never wait for it.
///
/// An acknowledged write survives the end of the process (WAL) and a loss of power (`synchronous = FULL`). The tables
/// of this module (blobs, sealed secrets, identity) always exist; other modules and apps pass theirs as migrations.
package final class LarderDatabase: Sendable {
    /// The folder of the database, locked while the database is open.
    package let directory: DataDirectory
    /// The pool of GRDB, for uses beside ``read(_:)`` and `write`, such as observation. It throws GRDB's errors.
    package let pool: DatabasePool
    let readers: ReaderConnections
    /// The files of bodies that are too large for a row.
    package let blobs: BlobStore
    package let logger: Logger
    let options: DatabaseOptions
    let reserve: DiskReserve
    private let hasMissedRollback = Atomic(false)
    /// Whether the reserve was allocated at the last check.
    let hadReserve: Atomic<Bool>
    /// Whether the write-ahead log still has private data that was deleted.
    let mustEmptyLog = Atomic(false)
    /// Whether a damaged page was met: 0 no, 1 yes, 2 reported to a check.
    let suspicion = Atomic(0)
    /// The damage that a check of the pages has found, if it could not be removed.
    let damage = Mutex<StorageError?>(nil)
    /// Called if all cached responses were removed at once.
    private let resetObservers = Mutex<[@Sendable () -> Void]>([])
    private let isClosed = Atomic(false)
    /// Whether the last process ended without closing the database.
    package let wasLeftOpen: Bool

    /// The migrations of this module's tables; ``init(in:migrations:options:logger:)`` applies them first.
    package static let ownMigrations =
        BlobStore.migrations + SealedSecrets.migrations + BlobRemoval.migrations + DirectoryIdentity.migrations
        + SchemaObjects.migrations + RetentionTime.migrations + BlobStore.checksumMigrations
        + SealedSecrets.userMigrations

    /// Opens the database of `directory` and applies the migrations; creates it in a new directory. A directory whose
    /// parts do not belong together is refused unchanged (``DirectoryCheck``).
    ///
    /// - Parameters:
    ///   - migrations: The migrations of all apps of this build, also of apps that are switched off: an unknown one is
    ///     taken for one of a newer build.
    ///   - logger: Receives which files of blobs are missing or unknown, and which could not be removed.
    package init(
        in directory: DataDirectory,
        migrations: [SchemaMigration] = [],
        options: DatabaseOptions = .init(),
        logger: Logger
    ) throws {
        self.directory = directory
        self.logger = logger
        self.options = options
        let reserve = DiskReserve(path: directory.reservePath)
        self.reserve = reserve
        let blobs = BlobStore(folder: directory.blobsPath, logger: logger)
        self.blobs = blobs
        let readers = ReaderConnections(path: directory.databasePath, configuration: Self.configuration(options))
        self.readers = readers
        // The schema is read by each connection, which is most of the time of opening files that need no check: by both
        // at the same time.
        if options.trustsFiles { readers.prepare() }
        let opened = try reserve.lending {
            try Self.open(directory, migrations: migrations, options: options, blobs: blobs)
        }
        (pool, wasLeftOpen) = (opened.pool, opened.found.wasLeftOpen)
        reserve.take()
        hadReserve = Atomic(reserve.isWhole)
        opened.found.log(to: logger)
        blobs.checks.use { id in
            try readers.read { db in
                try Data.fetchOne(try db.cachedStatement(sql: BlobStore.selectChecksums), arguments: [id])
            }
        }
    }

    /// Waits for running reads and writes, moves the write-ahead log into the database and closes it. Later use throws
    /// ``StorageError/databaseClosed(path:)``.
    package func close() throws {
        do {
            pool.writeWithoutTransaction { blobs.removal.run($0, isLast: true) }
            // GRDB closes the writer first; the log is only moved when the writer is the last connection.
            try readers.close()
            pool.invalidateReadOnlyConnections()
            try pool.close()
            isClosed.store(true, ordering: .sequentiallyConsistent)
        } catch {
            throw translating(error)
        }
    }

    /// Calls `notify` whenever all cached responses were removed without deleting their rows.
    package func onReset(_ notify: @escaping @Sendable () -> Void) {
        resetObservers.withLock { $0.append(notify) }
    }

    /// Notifies that all cached responses were removed without deleting their rows.
    package func notifyReset() {
        for notify in resetObservers.withLock(\.self) { notify() }
    }

    /// Translates an error of GRDB. After ``close()`` those of SQLite are arbitrary, such as "out of memory".
    package func translating(_ error: any Error) -> any Error {
        let path = directory.databasePath
        if error is DatabaseError, isClosed.load(ordering: .sequentiallyConsistent) {
            return StorageError.databaseClosed(path: path)
        }
        let translated = StorageError.translating(error, path: path)
        if case .damagedDatabase = translated as? StorageError {
            _ = suspicion.compareExchange(expected: 0, desired: 1, ordering: .relaxed)
        }
        return translated
    }
}

extension LarderDatabase {
    /// Reads one consistent state. Blocks the calling thread while the query runs, but never for a writer.
    ///
    /// Reads within `value` are of the same state, in the same transaction.
    ///
    /// There is no suspending form, because switching to another thread and back costs more than a small query: 43
    /// against 34 µs for a request that reads 4 KB.
    ///
    /// - Throws: ``StorageError``, or an error of `value`.
    package func read<Value>(_ value: (Database) throws -> Value) throws -> Value {
        do {
            return try readers.read(value)
        } catch {
            throw translating(error)
        }
    }

    /// Changes the database in one transaction and returns when it is on the disk. An error rolls it back.
    ///
    /// Blocks the calling thread while other writers run and until the disk has responded. Tasks use the suspending
    /// form.
    /// - Throws: ``StorageError``, or an error of `updates`.
    package func write<Value>(_ updates: (Database) throws -> Value) throws -> Value {
        do {
            return try pool.writeWithoutTransaction { try transact($0, updates) }
        } catch {
            throw translating(error)
        }
    }

    /// Changes the database in one transaction and returns when it is on the disk. An error or cancellation rolls it
    /// back.
    ///
    /// - Throws: ``StorageError``, `CancellationError`, or an error of `updates`.
    package func write<Value: Sendable>(_ updates: @Sendable @escaping (Database) throws -> Value) async throws -> Value
    {
        do {
            return try await pool.writeWithoutTransaction { try self.transact($0, updates) }
        } catch {
            throw translating(error)
        }
    }
}

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
    /// (`TransactionObserver.swift`, `statementDidFail`). Observers would then apply their collected changes with the
    /// next commit. Rolling back an empty transaction notifies them and touches no file.
    private func notifyMissedRollback(_ db: Database) throws {
        guard hasMissedRollback.load(ordering: .relaxed), !db.isInsideTransaction else { return }
        try db.beginTransaction(.deferred)
        try db.rollback()
        hasMissedRollback.store(false, ordering: .relaxed)
    }
}

extension LarderDatabase {
    /// Runs one small read, for readiness probes, and throws the damage that a check of the pages has found.
    package func checkReadiness() throws {
        try read { db in try db.execute(sql: "SELECT 1") }
        if let damage = damage.withLock(\.self) { throw damage }
    }
}
