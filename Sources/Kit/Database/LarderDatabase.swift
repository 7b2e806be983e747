public import GRDB
public import Logging
import Synchronization

/// The one database of a Larder: SQLite in WAL mode, one writer, several readers that never wait for it.
///
/// What a write has acknowledged survives the end of the process (WAL) and a loss of power (`synchronous = FULL`). Its
/// own tables (blobs, sealed secrets, identity) are always there; other modules and apps hand in theirs as migrations.
public final class LarderDatabase: Sendable {
    /// The folder that this database lives in, locked for as long as the database is open.
    public let directory: DataDirectory
    /// GRDB's pool, for what ``read(_:)`` and ``write(_:)-(_)`` do not offer, such as observation. Its errors are
    /// GRDB's own.
    public let pool: DatabasePool
    /// The files of bodies that are too large for a row.
    public let blobs: BlobStore
    package let logger: Logger
    let reserve: DiskReserve
    let hasMissedRollback = Atomic(false)
    private let isClosed = Atomic(false)

    /// The steps that make the tables of this module; ``init(in:migrations:options:logger:)`` puts them first.
    package static let ownMigrations =
        BlobStore.migrations + SealedSecrets.migrations + BlobRemoval.migrations + DirectoryIdentity.migrations

    /// Opens the database of `directory` and brings it to the newest schema; creates it where there is nothing yet. A
    /// directory whose parts do not belong together is refused, and nothing in it is changed
    /// (``DirectoryCheck``).
    ///
    /// - Parameters:
    ///   - directory: The locked folder.
    ///   - migrations: Those of all apps of this build, also of apps that are switched off: an unknown one counts as
    ///     written by a newer build.
    ///   - options: How to open.
    ///   - logger: Gets what is missing or unknown among the files of blobs, and what could not be removed.
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

    /// The error to report for what GRDB threw. After ``close()`` SQLite's own say anything, such as "out of memory".
    package func translating(_ error: any Error) -> any Error {
        let path = directory.databasePath
        if error is DatabaseError, isClosed.load(ordering: .sequentiallyConsistent) {
            return StorageError.databaseClosed(path: path)
        }
        return StorageError.translating(error, path: path)
    }
}
