import Crypto
package import Foundation
import GRDB

/// Copies a data directory while a server may write to it.
///
/// The copy is one consistent state: the pages of the database as a transaction sees them, and the file of each of its
/// rows. Files are linked or copied first; new ones are added within the transaction, before its pages are copied. If a
/// file is missing, its row may have been deleted since, and the next transaction does not have the row
/// (docs/decisions/0064).
package struct Backup {
    /// The contents of a backup.
    package struct Report: Sendable, Equatable {
        package var path: String
        /// Number of files of bodies and documents.
        package var files: Int
        /// Bytes of all files.
        package var bytes: Int
        /// Names the files of rows that the data directory has lost, which the backup therefore lacks; nil if none.
        package var faults: String?
    }

    /// The most transactions that are tried.
    static let attempts = 100
    private static let pagesPerStep = 1024

    private let directory: URL
    private let migrations: [SchemaMigration]
    private let origin: String
    private let progress: ProgressReceiver

    /// - Parameters:
    ///   - migrations: The migrations of all apps of this build.
    ///   - origin: Who makes it, and when; a line of text in the backup.
    package init(
        of directory: URL,
        migrations: [SchemaMigration],
        origin: String,
        progress: @escaping ProgressReceiver = { _ in }
    ) {
        self.directory = directory
        self.migrations = migrations
        self.origin = origin
        self.progress = progress
    }

    /// Makes the backup. It appears under its name when it is complete and on the disk.
    ///
    /// - Parameter target: A path that does not exist, or an empty directory.
    /// - Throws: ``BackupError``, `StorageError`. Then there is no backup.
    package func write(to target: URL) throws -> Report {
        let source = try BackupSource(directory, migrations: migrations)
        let places = [source.path] + [RealPath.of(source.blobsPath)].compactMap(\.self)
        let target = try BackupTarget(target, apartFrom: places)
        do {
            try copy(source, to: target.work)
            try source.database.close()
            let report = try complete(target.work, source: source.path, path: target.path)
            try target.publish()
            return report
        } catch {
            target.discard()
            throw error
        }
    }

    /// Copies files, pages and key.
    private func copy(_ source: BackupSource, to work: DataDirectory) throws {
        do {
            var files = BlobCopies(from: source.blobsPath, to: work.blobsPath, progress)
            _ = try files.add(source.database.read(source.state).blobs)
            for _ in 0..<Self.attempts {
                let keys = try source.keys()
                let state = try source.database.read { db -> BackupSource.State? in
                    let state = try source.state(db)
                    guard try files.add(state.blobs),
                        try copyKey(state, keys + source.keys(), to: work)
                    else { return nil }
                    try copyPages(db, to: work)
                    return state
                }
                guard let state else { continue }
                try files.remove(except: state.blobs)
                if let identity = state.identity {
                    try OpenFile.create("\(work.path)/\(BackupLayout.identity)", Data("\(identity)\n".utf8))
                }
                return
            }
        } catch {
            throw StorageError.translating(error, path: source.databasePath)
        }
        let fingerprint = try source.database.read { try source.state($0).keyFingerprint }
        try SealingKey.check(fingerprint: fingerprint, path: "\(source.path)/\(BackupLayout.key)")
        throw BackupError.unsettled(path: source.path, attempts: Self.attempts)
    }

    /// Writes the key that has sealed the secrets of a state, if there are any.
    ///
    /// - Returns: False if no key fits, as if keys were rotated meanwhile.
    private func copyKey(_ state: BackupSource.State, _ keys: [SymmetricKey], to work: DataDirectory) throws -> Bool {
        guard let fingerprint = state.keyFingerprint else { return true }
        guard let key = keys.first(where: { SealingKey.fingerprint(of: $0) == fingerprint }) else { return false }
        try OpenFile.create(work.keyPath, key)
        return true
    }

    /// Copies the pages of the current transaction (SQLite's online backup).
    private func copyPages(_ db: Database, to work: DataDirectory) throws {
        // SQLite would create it readable by all users.
        let file = try OpenFile(work.databasePath, O_RDWR | O_CREAT | O_EXCL)
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        do {
            let copy = try DatabaseQueue(path: work.databasePath)
            try copy.writeWithoutTransaction { copy in
                try db.backup(to: copy, pagesPerStep: CInt(Self.pagesPerStep)) { step in
                    let (all, left) = (step.totalPageCount, step.remainingPageCount)
                    progress(StorageProgress(.database, completed: (all - left) * pageSize, total: all * pageSize))
                }
            }
            try copy.close()
        } catch {
            // SQLite does not tell which of the two databases has failed; only one of them is written to.
            let cause = SpaceProbe(in: work.path).explaining(error, path: work.databasePath)
            guard (cause as? DatabaseError)?.resultCode == .SQLITE_FULL else { throw cause }
            throw StorageError.diskFull(path: work.databasePath)
        }
        try file.synchronize()
    }

    /// Reads all that was copied, compares rows and files, and writes the list of files.
    private func complete(_ work: DataDirectory, source: String, path: String) throws -> Report {
        var (sums, bytes) = try Checksums.of(work.path, from: source, origin: origin, progress)
        progress(StorageProgress(.check))
        let found = try DirectoryCheck(ofCopy: work, from: source, migrations: migrations)
        sums.lost = found.lostPaths
        try OpenFile.create("\(work.path)/\(Checksums.fileName)", Data(sums.text.utf8))
        return Report(path: path, files: sums.blobs, bytes: bytes, faults: found.files.faults())
    }
}

/// A data directory that is read while a server may use it. Takes no lock, so that a server can start meanwhile.
struct BackupSource {
    /// One consistent state of the database.
    struct State {
        let blobs: [Blob]
        /// The text of `blobs/.identity`; nil if the database is of a build before identities.
        let identity: String?
        let keyFingerprint: Data?
    }

    /// The resolved path of the directory.
    let path: String
    let database: DatabaseQueue
    var databasePath: String { "\(path)/\(BackupLayout.database)" }
    var blobsPath: String { "\(path)/\(BackupLayout.blobs)" }

    /// Opens a data directory for reading.
    ///
    /// - Throws: ``BackupError/noDatabase(path:)``; ``StorageError`` if the database is not Larder's, or of a newer
    ///   build.
    init(_ directory: URL, migrations: [SchemaMigration]) throws {
        let path = RealPath.of(directory.path) ?? directory.standardizedFileURL.path
        let databasePath = "\(path)/\(BackupLayout.database)"
        guard access(databasePath, R_OK) == 0 else {
            guard errno == EACCES else { throw BackupError.noDatabase(path: path) }
            throw StorageError.notReadable(path: databasePath)
        }
        self.path = path
        do {
            database = try Self.open(databasePath)
            try database.read { db in
                guard try DirectoryCheck.isLarders(db, path: databasePath) else {
                    throw BackupError.noDatabase(path: path)
                }
                let migrator = try SchemaMigration.migrator(LarderDatabase.ownMigrations + migrations)
                _ = try DirectoryCheck.appliedMigrations(db, path: databasePath, migrator: migrator)
            }
        } catch {
            throw StorageError.translating(error, path: databasePath)
        }
    }

    /// Opens the database with its log, which SQLite creates if there is none: then a server that starts now is seen.
    /// On a read-only file system none can be created, and none can start.
    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "larder.backup"
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        var status = statvfs()
        let isReadOnly = statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
        return isReadOnly
            ? try DirectoryCheck.openForReading(path) : try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Reads the state for a backup, consistent within one transaction.
    func state(_ db: Database) throws -> State {
        State(
            blobs: try Row.fetchAll(db, sql: "SELECT id, length FROM blob").map {
                try Blob(id: $0.value(0), length: $0.value(1))
            },
            identity: try db.tableExists("data_directory")
                ? String.fetchOne(db, sql: "SELECT identity FROM data_directory") : nil,
            keyFingerprint: try db.tableExists("sealing_key") ? SealingKey.notedFingerprint(in: db) : nil
        )
    }

    /// Returns the keys that are in the directory now, that of a rotation in progress first. If one is renamed between
    /// both reads, it is found by the second one.
    func keys() throws -> [SymmetricKey] {
        try SealingKey.present(path: "\(path)/\(BackupLayout.key)")
    }
}

/// Why a backup was not made, or not restored. Nothing was changed.
package enum BackupError: Error, Sendable, Equatable {
    /// There is no database to back up.
    case noDatabase(path: String)
    /// The target exists, and is not an empty directory.
    case targetNotEmpty(path: String)
    /// A backup cannot be written to the target.
    case targetUnsuitable(path: String, reason: String)
    /// Another process writes a backup to the target.
    case targetInUse(path: String, pid: Int32?)
    /// The stored data cannot be used, whatever is done with the files.
    case unusable(path: String, detail: String)
    /// The data directory changed faster than it could be copied.
    case unsettled(path: String, attempts: Int)
    /// A directory is not a complete backup.
    case notABackup(path: String, reason: String)
    /// Files of a backup are missing, or are not those that were written.
    case changed(path: String, files: [String])
    /// A data directory that is to receive a backup has files already.
    case directoryNotEmpty(path: String, names: [String])
    /// A backup cannot be restored to this place.
    case directoryUnsuitable(path: String, reason: String)
}

extension BackupError: CustomStringConvertible {
    /// The most names that a message has.
    private static let limit = 5

    /// One sentence for an operator, with paths and names.
    package var description: String {
        switch self {
        case .noDatabase(let path): "There is no database in \(path), so there is nothing to back up."
        case .targetNotEmpty(let path): "\(path) exists and is not empty: a backup needs a new directory."
        case .targetUnsuitable(let path, let reason): "A backup cannot be written to \(path): \(reason)."
        case .targetInUse(let path, let pid):
            "Another process\(pid.map { " (pid \($0))" } ?? "") is writing a backup to \(path)."
        case .unusable(let path, let detail): "\(path) cannot be used: \(detail)"
        case .unsettled(let path, let attempts):
            "\(path) changed faster than it could be copied (\(attempts) attempts): try again when there is less to do."
        case .notABackup(let path, let reason): "\(path) is not a complete backup: \(reason)."
        case .changed(let path, let files):
            "The backup \(path) is damaged; missing or changed since it was made: \(Self.list(files)). "
                + "Nothing was restored."
        case .directoryNotEmpty(let path, let names):
            "The data directory \(path) is not empty (\(Self.list(names))): "
                + "restore to an empty one, or move its contents elsewhere. Nothing was changed."
        case .directoryUnsuitable(let path, let reason): "A backup cannot be restored to \(path): \(reason)."
        }
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(limit).joined(separator: ", ")
            + (names.count > limit ? " and \(names.count - limit) more" : "")
    }
}
