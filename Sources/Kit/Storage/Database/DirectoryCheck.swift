import Foundation
package import GRDB
import Logging

/// Checks whether the database, key and blobs of a data directory belong together, and which parts are missing. Changes
/// nothing.
///
/// `serve` runs it before anything is opened for writing, `doctor` shows its result. An unusable directory is refused
/// by an error; files that are missing, truncated or unknown are named, because everything else can still be served.
package struct DirectoryCheck: Sendable {
    /// Whether the directory is new: the first start creates everything.
    package internal(set) var isNew = true
    /// Whether the tables are those of this build; otherwise the next start of the server updates them.
    package internal(set) var isCurrent = true
    /// Whether the last process ended without closing the database.
    package internal(set) var wasLeftOpen = false
    /// Whether the database has a log, as after a killed process.
    var hasLog = false
    /// The blobs' files, compared with the rows.
    package internal(set) var files = BlobCheck()

    /// Whether the file of the database has at least a header.
    var isBegun = false
    var databaseIdentity: DirectoryIdentity?
    var blobsIdentity: DirectoryIdentity?
    var keyFingerprint: Data?

    /// Examines a directory.
    ///
    /// - Parameters:
    ///   - migrations: The migrations of all apps of this build, as for ``LarderDatabase``.
    ///   - options: Which pages are checked. If all are, so are the references between rows.
    ///   - readsFiles: Whether each file is read to its end; nil if it is with all pages.
    ///   - inspect: Reads more from the database; called only if its schema is that of this build.
    /// - Throws: ``StorageError`` if it cannot be used.
    package init(
        of directory: DataDirectory,
        migrations: [SchemaMigration],
        options: DatabaseOptions,
        readsFiles: Bool? = nil,
        inspect: (Database) throws -> Void = { _ in },
        progress: @escaping ProgressReceiver = { _ in }
    ) throws {
        let migrations = LarderDatabase.ownMigrations + migrations
        let path = directory.databasePath
        try Self.checkRights(of: directory)
        blobsIdentity = try DirectoryIdentity.read(in: directory.blobsPath)
        let blobFiles = try BlobFiles(in: directory.blobsPath)
        hasLog = Self.hasLog(path)
        do {
            wasLeftOpen = try LarderDatabase.wasLeftOpen(path)
            try examineDatabase(path, migrations: migrations, options: options, progress: progress) { check, db in
                try check.files.compare(
                    rowsOf: db,
                    with: blobFiles,
                    hasLog: check.hasLog,
                    reading: readsFiles ?? (options.integrityCheck == .always),
                    progress: progress
                )
                guard check.isCurrent else { return }
                if options.integrityCheck == .always {
                    try SealedSecrets.check(db, fingerprint: check.keyFingerprint, keyPath: directory.keyPath)
                }
                try inspect(db)
            }
        } catch {
            throw StorageError.translating(error, path: path)
        }
        try checkParts(of: directory, names: blobFiles.finished)
    }

    /// Assumes that a directory is whole, current and closed.
    ///
    /// - Throws: ``StorageError`` if its blobs have no identity that can be read.
    init(trusting directory: DataDirectory) throws {
        (isNew, isBegun) = (false, true)
        blobsIdentity = try DirectoryIdentity.read(in: directory.blobsPath)
        databaseIdentity = blobsIdentity
    }

    /// Checks that the parts belong together.
    private func checkParts(of directory: DataDirectory, names: Set<BlobID>) throws {
        guard !isNew else {
            let remains = try remains(in: directory, blobs: names.count)
            guard remains.isEmpty else {
                throw StorageError.databaseMissing(path: directory.databasePath, remains: remains)
            }
            return
        }
        if let databaseIdentity, let blobsIdentity, databaseIdentity != blobsIdentity {
            throw StorageError.foreignBlobs(
                path: directory.blobsPath,
                identity: blobsIdentity.description,
                databaseIdentity: databaseIdentity.description
            )
        }
        if let databaseIdentity, blobsIdentity == nil, names.isEmpty, files.count > 0 {
            throw StorageError.blobsMissing(
                path: directory.blobsPath,
                files: files.count,
                identity: databaseIdentity.description
            )
        }
        try SealingKey.check(fingerprint: keyFingerprint, path: directory.keyPath)
    }

    /// Returns the names of the files that belong to a database, if there is no database.
    private func remains(in directory: DataDirectory, blobs: Int) throws -> [String] {
        let files = [directory.keyPath, SealingKey.nextFile(of: KeyFile(path: directory.keyPath)).path]
        var remains = files.filter { FileManager.default.fileExists(atPath: $0) }.map {
            ($0 as NSString).lastPathComponent
        }
        if blobs > 0 || blobsIdentity != nil { remains.append("blobs (\(blobs) files)") }
        // SQLite removes the log of a missing or empty database, and with it the changes that are only in the log.
        if !isBegun, wasLeftOpen { remains.append(DataDirectory.databaseName + "-wal") }
        return remains
    }

    /// Checks that existing parts can be read and written.
    private static func checkRights(of directory: DataDirectory) throws {
        let folders = ["", "/blobs", "/uploads", "/work"].map { (directory.path + $0, R_OK | W_OK | X_OK) }
        let files = ["", "-wal", "-shm", "-journal"].map { (directory.databasePath + $0, R_OK | W_OK) }
        for (path, rights) in folders + files where access(path, F_OK) == 0 {
            guard access(path, W_OK) == 0 else { throw StorageError.notWritable(path: path) }
            guard access(path, rights) == 0 else { throw StorageError.notReadable(path: path) }
        }
    }
}

extension DirectoryCheck {
    /// Reads a database without writing to it, so that an unusable one is not changed.
    ///
    /// - Parameters:
    ///   - examine: Is called with a database of a known schema.
    private mutating func examineDatabase(
        _ path: String,
        migrations: [SchemaMigration],
        options: DatabaseOptions,
        progress: ProgressReceiver,
        examine: (inout DirectoryCheck, Database) throws -> Void
    ) throws {
        guard try Self.hasHeader(path) else { return }
        isBegun = true
        let database = try Self.openForReading(path, busyTimeout: options.busyTimeout)
        try database.read { db in
            guard try Self.isLarders(db, path: path) else { return }
            isNew = false
            try examineSchema(db, path: path, migrations: migrations)
            if options.integrityCheck != .never { progress(StorageProgress(.check)) }
            switch options.integrityCheck {
            case .always: try IntegrityCheck.all(db, path: path)
            case .afterUncleanStop: if wasLeftOpen { try IntegrityCheck.pages(db, path: path) }
            case .never: break
            }
            if try db.tableExists("data_directory") {
                databaseIdentity = try DirectoryIdentity.read(db, path: path)
            }
            if try db.tableExists("sealing_key") { keyFingerprint = try SealingKey.notedFingerprint(in: db) }
            try examine(&self, db)
        }
        try database.close()
    }

    /// Opens a database for reading. SQLite creates no file beside it if there is none, as it otherwise does for
    /// reading, too.
    package static func openForReading(_ path: String, busyTimeout: Double = 5) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(busyTimeout)
        return try DatabaseQueue(path: nameForReading(path), configuration: configuration)
    }

    /// Whether a database has a log or a journal beside it: then its file is not complete by itself.
    package static func hasLog(_ path: String) -> Bool {
        ["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// Returns a name of a database with which SQLite creates no file beside it. Without a log and a journal the file
    /// is complete, and nothing changes it while the directory is locked.
    private static func nameForReading(_ path: String) throws -> String {
        let readsNames = try DatabaseQueue().read { db in
            try Bool.fetchOne(db, sql: "SELECT sqlite_compileoption_used('USE_URI')") ?? false
        }
        guard !hasLog(path), readsNames else { return path }
        var name = URLComponents()
        name.scheme = "file"
        name.path = path
        name.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        return name.string ?? path
    }

    /// Returns whether the file has a header of SQLite; false if it is missing, or empty, which SQLite takes for an
    /// empty database.
    private static func hasHeader(_ path: String) throws -> Bool {
        guard let header = try OpenFile.ifPresent(path)?.read(at: 0, count: 16), !header.isEmpty else { return false }
        guard header == Data("SQLite format 3\0".utf8) else {
            throw StorageError.damagedDatabase(path: path, detail: "the file is not an SQLite database")
        }
        return true
    }

    /// Returns whether a database is one of Larder's; false if it has no tables, as after an interrupted first start.
    ///
    /// - Throws: ``StorageError/foreignDatabase(path:detail:)``.
    package static func isLarders(_ db: Database, path: String) throws -> Bool {
        let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        guard [0, DirectoryIdentity.applicationID].contains(application) else {
            throw StorageError.foreignDatabase(path: path, detail: "its application id is \(application)")
        }
        if try db.tableExists("grdb_migrations") {
            // Before the first migration a database of Larder's has this table only.
            let steps = try Set(String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations"))
            if steps.contains(LarderDatabase.ownMigrations[0].name) { return true }
            if steps.isEmpty, try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'table'") == 1
            {
                return false
            }
        } else if try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 {
            return false
        }
        try checkRecords(db, path: path)
        throw StorageError.foreignDatabase(path: path, detail: "its tables are not those of Larder")
    }

    /// Compares the applied migrations, and the tables, indexes and triggers that they have created, with those of this
    /// build.
    private mutating func examineSchema(_ db: Database, path: String, migrations: [SchemaMigration]) throws {
        let migrator = try SchemaMigration.migrator(migrations)
        let applied = try Self.appliedMigrations(db, path: path, migrator: migrator)
        isCurrent = applied.isSuperset(of: migrator.migrations)
        let present = try SchemaObjects.all(in: db)
        // A reset of the cache that was interrupted has removed the first migrations: the others alone may not run.
        let expected =
            isCurrent
            ? try SchemaObjects.expected(by: migrator, recordedIn: db)
            : try? SchemaObjects.created(by: SchemaMigration.migrator(migrations.filter { applied.contains($0.name) }))
        guard let expected else { return }
        var missing = SchemaObjects.missing(expected, in: present)
        if isCurrent, !missing.isEmpty {
            // The record may be damaged.
            missing = try SchemaObjects.missing(SchemaObjects.created(by: migrator), in: present)
        }
        // Objects that later migrations create must not exist yet.
        let early = isCurrent ? [] : try SchemaObjects.created(by: migrator).subtracting(expected).intersection(present)
        guard missing.isEmpty, early.isEmpty else {
            try Self.checkRecords(db, path: path)
            throw missing.isEmpty
                ? StorageError.schemaNotRecorded(path: path, present: early.sorted())
                : StorageError.schemaIncomplete(path: path, missing: missing)
        }
    }

    /// Checks the table of the applied migrations, so that its damage is not reported as a fault of the schema.
    private static func checkRecords(_ db: Database, path: String) throws {
        guard try db.tableExists("grdb_migrations"), let damage = try IntegrityCheck.damage(of: "grdb_migrations", db)
        else { return }
        throw StorageError.damagedDatabase(path: path, detail: "grdb_migrations: \(damage)")
    }

    /// Returns the names of the migrations that were applied.
    ///
    /// - Throws: ``StorageError/newerSchema(path:unknownMigrations:)`` if this build does not know one of them;
    ///   ``StorageError/damagedDatabase(path:detail:)`` if the table of their names is damaged.
    package static func appliedMigrations(_ db: Database, path: String, migrator: DatabaseMigrator) throws
        -> Set<String>
    {
        let applied = try migrator.appliedIdentifiers(db)
        let unknown = applied.subtracting(migrator.migrations)
        guard unknown.isEmpty else {
            try checkRecords(db, path: path)
            throw StorageError.newerSchema(path: path, unknownMigrations: unknown.sorted())
        }
        return applied
    }
}

extension DirectoryCheck {
    /// Logs at start the faults of files that `larder doctor` reports.
    func log(to logger: Logger) {
        if let faults = files.faults() {
            logger.error(
                "files that rows name are not in blobs: restore them from a backup",
                metadata: ["files": "\(faults)"]
            )
        }
        if let strangers = files.strangers() {
            logger.warning(
                "files in blobs that no row names; they stay, see docs/operations.md",
                metadata: ["files": "\(strangers)"]
            )
        }
    }
}
