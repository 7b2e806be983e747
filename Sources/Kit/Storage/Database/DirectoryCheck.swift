import Foundation
package import GRDB

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
    ///   - directory: The locked folder.
    ///   - migrations: The migrations of all apps of this build, as for ``LarderDatabase``.
    ///   - options: Which pages are checked. If all are, so are the references between rows.
    ///   - readsFiles: Whether each file is read to its end; nil if it is with all pages.
    ///   - inspect: Reads more from the database; called only if its schema is that of this build.
    ///   - progress: Receives the step under way.
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
