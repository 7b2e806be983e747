package import Foundation
import GRDB

extension LarderDatabase {
    /// Returns the settings of every connection. `makeDurable` sets `synchronous`.
    static func configuration(_ options: DatabaseOptions) -> Configuration {
        var configuration = Configuration()
        configuration.label = "larder"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(options.busyTimeout)
        configuration.maximumReaderCount = options.maximumReaderCount
        configuration.prepareDatabase { [trace = options.trace, isDurable = options.isDurable] db in
            if !isDurable { try db.execute(sql: "PRAGMA synchronous = OFF") }
            if let trace { db.trace { trace($0.description) } }
            // No mmap: a failing disk must be a typed error of one request. With mmap it is a SIGBUS that ends the
            // process. auto_vacuum applies to new files only; it allows a purge to free space.
            try db.execute(
                sql: """
                    PRAGMA cache_size = -4096;
                    PRAGMA mmap_size = 0;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA trusted_schema = OFF;
                    """
            )
            if !db.configuration.readonly {
                try db.execute(
                    sql: """
                        PRAGMA auto_vacuum = INCREMENTAL;
                        PRAGMA journal_size_limit = 67108864;
                        PRAGMA secure_delete = ON;
                        """
                )
            }
        }
        return configuration
    }

    /// Checks a directory, opens its pool, applies the migrations, and gives database and blobs one identity.
    ///
    /// - Throws: ``StorageError``. The steps until then do no harm: opening can be repeated.
    static func open(
        _ directory: DataDirectory,
        migrations: [SchemaMigration],
        options: DatabaseOptions,
        blobs: BlobStore
    ) throws -> (pool: DatabasePool, found: DirectoryCheck) {
        let path = directory.databasePath
        do {
            let found =
                options.trustsFiles
                ? try DirectoryCheck(trusting: directory)
                : try DirectoryCheck(of: directory, migrations: migrations, options: options)
            let lastWrite = lastWrite(of: path)
            let migrator = options.trustsFiles ? nil : try SchemaMigration.migrator(ownMigrations + migrations)
            let pool = try openPool(at: path, folder: directory.path, options: options)
            try migrate(pool, by: migrator, path: path)
            try makeDurable(pool, options)
            try directory.createBlobsFolder(synchronizes: options.isDurable)
            try DirectoryIdentity.establish(found, pool, folder: directory.blobsPath)
            if let migrator { try SchemaObjects.establish(by: migrator, in: pool, isNew: found.isNew) }
            try pool.writeWithoutTransaction {
                blobs.removal.run($0, lastWrite: lastWrite, isLast: true)
                try blobs.removeUnfinishedFiles($0, hasLog: found.hasLog)
            }
            return (pool, found)
        } catch {
            let cause = SpaceProbe(in: directory.path).explaining(error, path: path)
            throw IntegrityCheck.naming(StorageError.translating(cause, path: path))
        }
    }

    private static func migrate(_ pool: DatabasePool, by migrator: DatabaseMigrator?, path: String) throws {
        do {
            try migrator?.migrate(pool)
        } catch let error as DatabaseError where error.isOfMigration {
            throw StorageError.migrationFailed(path: path, detail: error.message ?? "SQLite refuses it")
        }
    }

    private static func openPool(at path: String, folder: String, options: DatabaseOptions) throws -> DatabasePool {
        try createFile(path, folder: folder, options: options)
        let hasLog = try options.trustsFiles && wasLeftOpen(path)
        let log = hasLog ? nil : try beginLog(of: path, options: options)
        let pool = try DatabasePool(path: path, configuration: configuration(options))
        try log?.close()
        return pool
    }

    /// Makes commits wait for the disk, or for nothing.
    ///
    /// GRDB sets NORMAL after it has prepared the connection; with that a loss of power may undo acknowledged writes.
    /// It does for migrations: one that was undone is applied by the next start. The first commit after this makes them
    /// durable, at the latest that of ``SchemaObjects/establish(by:in:isNew:)``.
    private static func makeDurable(_ pool: DatabasePool, _ options: DatabaseOptions) throws {
        let level = options.isDurable ? "FULL" : "OFF"
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(level)") }
    }

    /// Writes the first frame of the write-ahead log, if it has none, and keeps it open.
    ///
    /// With an empty log GRDB creates a table and drops it again (`Database.setUpWALMode`). That takes a page, and with
    /// automatic vacuum it may move another one, so it fails if the list of free pages or a page of any table is
    /// damaged. The first page alone is written here.
    private static func beginLog(of path: String, options: DatabaseOptions) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, configuration: configuration(options))
        guard try !wasLeftOpen(path) else { return queue }
        try queue.writeWithoutTransaction { db in
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA user_version = \(version)")
        }
        return queue
    }

    /// Returns a write-ahead log with its first frame, for copies of a database that is closed: beside them, it saves
    /// each of them from writing one.
    ///
    /// - Throws: `DatabaseError`; file errors.
    package static func firstLog(of path: String) throws -> Data {
        let queue = try beginLog(of: path, options: DatabaseOptions())
        let log = try Data(contentsOf: URL(filePath: logPath(of: path)))
        try queue.close()
        return log
    }

    /// Returns the path of the write-ahead log of a database.
    package static func logPath(of database: String) -> String { database + "-wal" }

    /// Creates the file of a database with its header if it is missing or empty. It appears at once by being renamed:
    /// SQLite writes the first page with a journal, and an interrupted first start could not be read any more.
    private static func createFile(_ path: String, folder: String, options: DatabaseOptions) throws {
        if let file = try OpenFile.ifPresent(path), try file.length() > 0 { return }
        let unfinished = path + ".new"
        for path in ["", "-journal", "-wal", "-shm"].map({ unfinished + $0 }) {
            try StorageError.check("unlink", path, except: ENOENT) { unlink(path) }
        }
        // SQLite would create it readable by all users.
        let file = try OpenFile(unfinished, O_RDWR | O_CREAT)
        let queue = try DatabaseQueue(path: unfinished, configuration: configuration(options))
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try queue.close()
        try file.synchronize()
        try StorageError.check("rename", path) { rename(unfinished, path) }
        try OpenFile.synchronizeDirectory(folder)
    }

    /// Returns whether the last process ended without closing the database: the last connection that closes removes the
    /// write-ahead log.
    static func wasLeftOpen(_ path: String) throws -> Bool {
        try OpenFile.ifPresent(logPath(of: path)).map { try $0.length() > 0 } ?? false
    }

    /// Returns when the database or its log was last written; nil if there is neither.
    private static func lastWrite(of database: String) -> timespec? {
        let times = ["", "-wal"].compactMap { fileStatus(database + $0)?.st_mtim }
        return times.max { ($0.tv_sec, $0.tv_nsec) < ($1.tv_sec, $1.tv_nsec) }
    }
}

/// Options for opening a database; the defaults fit a server.
package struct DatabaseOptions: Sendable {
    /// When the pages of a database are checked before it is used. The check reads the whole file.
    package enum IntegrityCheck: Sendable {
        case always
        /// When the last process ended without closing it. SQLite recovers from that by itself; the check looks for a
        /// disk that lied.
        case afterUncleanStop
        /// Never; a damaged page shows when it is read.
        case never
    }

    /// When the pages are checked. The file's header is always checked.
    package var integrityCheck = IntegrityCheck.afterUncleanStop
    /// Number of connections that read at the same time. Each caches up to 4 MiB of pages.
    package var maximumReaderCount = 5
    /// How long a connection waits for a lock of another one on the database, in seconds.
    package var busyTimeout = 5.0
    /// Whether acknowledged writes survive a loss of power. Data that ends with its process does not need that.
    package var isDurable = true
    /// Whether the files are known to be those that this process has made and closed in order. They are neither checked
    /// nor migrated then.
    package var trustsFiles = false
    /// Called with the SQL of each statement that is run, for tests; nil costs nothing.
    package var trace: (@Sendable (String) -> Void)?
}

extension DatabaseOptions {
    package init(integrityCheck: IntegrityCheck = .afterUncleanStop) {
        self.init(integrityCheck: integrityCheck, isDurable: true)
    }
}
