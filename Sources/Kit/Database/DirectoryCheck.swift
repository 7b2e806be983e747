import Foundation
public import GRDB

/// Checks whether the database, key and blobs of a data directory belong together, and what is missing. Changes
/// nothing.
///
/// `serve` runs it before anything is opened for writing, `doctor` shows its result. What cannot be used is refused by
/// an error; files that are missing, truncated or unknown are named, because everything else can still be served.
public struct DirectoryCheck: Sendable {
    /// Whether the directory is new: the first start creates everything.
    public internal(set) var isNew = true
    /// Whether the tables are those of this build; otherwise the next start of the server updates them.
    public internal(set) var isCurrent = true
    /// Number of blobs that rows name.
    public internal(set) var blobs = 0
    /// Blobs that rows name and whose file is missing.
    public internal(set) var missing: [BlobID] = []
    /// Blobs whose file has another length than the row says.
    public internal(set) var cut: [BlobID] = []
    /// Blobs that no row names. They may be left by a crash, or be all that is left of lost rows: nothing removes them.
    public internal(set) var unknown: [BlobID] = []

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
    ///   - options: Whether the pages are checked.
    ///   - inspect: Reads more from the database; called only if its schema is that of this build.
    /// - Throws: ``StorageError`` if it cannot be used.
    public init(
        of directory: DataDirectory,
        migrations: [SchemaMigration],
        options: DatabaseOptions,
        inspect: (Database) throws -> Void = { _ in }
    ) throws {
        let migrator = try SchemaMigration.migrator(LarderDatabase.ownMigrations + migrations)
        let path = directory.databasePath
        try Self.checkRights(of: directory)
        blobsIdentity = try DirectoryIdentity.read(in: directory.blobsPath)
        let names = try Self.blobNames(in: directory)
        do {
            try examineDatabase(
                path,
                migrator: migrator,
                options: options,
                names: names,
                folder: directory.blobsPath,
                inspect: inspect
            )
        } catch {
            throw StorageError.translating(error, path: path)
        }
        guard !isNew else {
            let remains = try Self.remains(in: directory, blobs: names.count, identity: blobsIdentity, isBegun: isBegun)
            guard remains.isEmpty else { throw StorageError.databaseMissing(path: path, remains: remains) }
            return
        }
        if let databaseIdentity, let blobsIdentity, databaseIdentity != blobsIdentity {
            throw StorageError.foreignBlobs(
                path: directory.blobsPath,
                identity: blobsIdentity.description,
                databaseIdentity: databaseIdentity.description
            )
        }
        try SealingKey.check(fingerprint: keyFingerprint, path: directory.keyPath)
    }

    /// Returns the identities of the finished files.
    private static func blobNames(in directory: DataDirectory) throws -> Set<BlobID> {
        guard FileManager.default.fileExists(atPath: directory.blobsPath) else { return [] }
        return Set(try BlobStore.fileNames(in: directory.blobsPath).compactMap { BlobID(fileName: $0) })
    }

    /// Returns the names of what belongs to a database, if there is none.
    private static func remains(in directory: DataDirectory, blobs: Int, identity: DirectoryIdentity?, isBegun: Bool)
        throws -> [String]
    {
        let files = [directory.keyPath, SealingKey.nextFile(of: KeyFile(path: directory.keyPath)).path]
        var remains = files.filter { FileManager.default.fileExists(atPath: $0) }.map {
            ($0 as NSString).lastPathComponent
        }
        if blobs > 0 || identity != nil { remains.append("blobs (\(blobs) files)") }
        // SQLite removes the log of a missing or empty database, and with it what is only in the log.
        if !isBegun, try LarderDatabase.wasLeftOpen(directory.databasePath) {
            remains.append(DataDirectory.databaseName + "-wal")
        }
        return remains
    }

    /// Checks that existing parts can be read and written.
    private static func checkRights(of directory: DataDirectory) throws {
        let folders = ["", "/blobs", "/uploads", "/work"].map { (directory.path + $0, R_OK | W_OK | X_OK) }
        for (path, rights) in folders + [(directory.databasePath, R_OK | W_OK)] where access(path, F_OK) == 0 {
            guard access(path, W_OK) == 0 else { throw StorageError.notWritable(path: path) }
            guard access(path, rights) == 0 else { throw StorageError.notReadable(path: path) }
        }
    }
}

extension DirectoryCheck {
    /// Names the missing and truncated files; nil if there are none.
    ///
    /// - Parameter limit: The most names of each kind.
    public func faults(limit: Int = 5) -> String? {
        let faults = [Self.text("missing", missing, limit), Self.text("cut", cut, limit)].compactMap(\.self)
        return faults.isEmpty ? nil : faults.joined(separator: "; ")
    }

    /// Names the files that no row names; nil if there are none.
    public func strangers(limit: Int = 5) -> String? { Self.text("unknown", unknown, limit) }

    private static func text(_ what: String, _ ids: [BlobID], _ limit: Int) -> String? {
        guard !ids.isEmpty else { return nil }
        let names = ids.prefix(limit).map(\.description).joined(separator: ", ")
        return "\(ids.count) \(what): \(names)\(ids.count > limit ? ", …" : "")"
    }
}
