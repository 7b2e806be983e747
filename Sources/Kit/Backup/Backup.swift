import Crypto
package import Database
package import Foundation
import GRDB

/// Copies a data directory while a server may write to it.
///
/// The copy is one consistent state: the pages of the database as a transaction sees them, and the file of each row
/// that it has. Files are linked or copied first; those that are new since are added within the transaction, before
/// its pages are copied. A file can be missing then because its row was deleted since: the next transaction will not
/// have it (docs/decisions/0064).
package struct Backup {
    /// What a backup has.
    package struct Report: Sendable, Equatable {
        /// The path of the backup.
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

    /// Creates a backup of a data directory.
    ///
    /// - Parameters:
    ///   - directory: The data directory.
    ///   - migrations: The migrations of all apps of this build.
    ///   - origin: Who makes it, and when; a line of text in the backup.
    ///   - progress: Receives what is being done.
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
        let found: DirectoryCheck
        do {
            let options = DatabaseOptions(integrityCheck: .always)
            found = try DirectoryCheck(of: work, migrations: migrations, options: options, readsFiles: false)
        } catch let error as StorageError {
            throw BackupError.unusable(path: source, detail: "\(error)".replacing(work.path, with: source))
        }
        sums.lost = Set((found.files.missing + found.files.cut).map(BackupLayout.path))
        try OpenFile.create("\(work.path)/\(Checksums.fileName)", Data(sums.text.utf8))
        let files = sums.digests.keys.count { BackupLayout.blob(at: $0) != nil }
        return Report(path: path, files: files, bytes: bytes, faults: found.files.faults())
    }
}
