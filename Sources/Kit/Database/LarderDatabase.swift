public import GRDB
public import Logging
import Synchronization

/// The database of a Larder: SQLite in WAL mode with one writer and several readers that never wait for it.
///
/// An acknowledged write survives the end of the process (WAL) and a loss of power (`synchronous = FULL`). The tables
/// of this module (blobs, sealed secrets, identity) always exist; other modules and apps pass theirs as migrations.
public final class LarderDatabase: Sendable {
    /// The folder of the database, locked while the database is open.
    public let directory: DataDirectory
    /// The pool of GRDB, for what ``read(_:)`` and ``write(_:)-(_)`` do not offer, such as observation. It throws
    /// GRDB's errors.
    public let pool: DatabasePool
    /// The files of bodies that are too large for a row.
    public let blobs: BlobStore
    package let logger: Logger
    let reserve: DiskReserve
    let hasMissedRollback = Atomic(false)
    private let isClosed = Atomic(false)

    /// The migrations of this module's tables; ``init(in:migrations:options:logger:)`` applies them first.
    package static let ownMigrations =
        BlobStore.migrations + SealedSecrets.migrations + BlobRemoval.migrations + DirectoryIdentity.migrations

    /// Opens the database of `directory` and applies the migrations; creates it in a new directory. A directory whose
    /// parts do not belong together is refused unchanged (``DirectoryCheck``).
    ///
    /// - Parameters:
    ///   - directory: The locked folder.
    ///   - migrations: The migrations of all apps of this build, also of apps that are switched off: an unknown one is
    ///     taken for one of a newer build.
    ///   - options: The options.
    ///   - logger: Receives which files of blobs are missing or unknown, and which could not be removed.
    /// - Throws: ``StorageError``.
    public init(
        in directory: DataDirectory,
        migrations: [SchemaMigration] = [],
        options: DatabaseOptions = .init(),
        logger: Logger
    ) throws {
        self.directory = directory
        self.logger = logger
        reserve = DiskReserve(path: directory.reservePath)
        let found = try DirectoryCheck(of: directory, migrations: migrations, options: options)
        let lastWrite = BlobRemoval.lastWrite(of: directory.databasePath)
        pool = try Self.openPool(
            at: directory.databasePath,
            folder: directory.path,
            migrations: Self.ownMigrations + migrations,
            options: options
        )
        try directory.createBlobsFolder()
        blobs = BlobStore(folder: directory.blobsPath, logger: logger)
        do {
            try DirectoryIdentity.establish(found, pool, folder: directory.blobsPath)
        } catch {
            throw translating(error)
        }
        try blobs.removeUnfinishedFiles()
        pool.writeWithoutTransaction { blobs.removal.run($0, lastWrite: lastWrite, isLast: true) }
        reserve.take()
        found.log(to: logger)
    }

    /// Checks the pages of the whole file (`PRAGMA quick_check`); takes as long as reading it.
    ///
    /// - Throws: ``StorageError/damagedDatabase(path:detail:)``.
    public func checkIntegrity() throws {
        try read { try Self.checkPages($0, path: directory.databasePath) }
    }

    /// Waits for running reads and writes, moves the write-ahead log into the database and closes it. Later use throws
    /// ``StorageError/databaseClosed(path:)``.
    ///
    /// - Throws: ``StorageError``.
    public func close() throws {
        do {
            pool.writeWithoutTransaction { blobs.removal.run($0, isLast: true) }
            // GRDB closes the writer first; the log is only moved when the writer is the last connection.
            pool.invalidateReadOnlyConnections()
            try pool.close()
            isClosed.store(true, ordering: .sequentiallyConsistent)
        } catch {
            throw translating(error)
        }
    }

    /// Translates an error of GRDB. After ``close()`` those of SQLite are arbitrary, such as "out of memory".
    package func translating(_ error: any Error) -> any Error {
        let path = directory.databasePath
        if error is DatabaseError, isClosed.load(ordering: .sequentiallyConsistent) {
            return StorageError.databaseClosed(path: path)
        }
        return StorageError.translating(error, path: path)
    }
}
