import Crypto
package import Foundation

/// Puts a backup into an empty data directory.
///
/// Everything is copied into a directory inside of it and checked there. Then the parts get their names, the database
/// last: until it is there, a server refuses the directory (docs/decisions/0026).
package struct Restore {
    package struct Report: Sendable, Equatable {
        /// Who has made the backup, and when.
        package var origin: String
        /// Number of files of bodies and documents.
        package var files: Int
        /// Whether the tables are those of this build; otherwise the next start of the server updates them.
        package var isCurrent: Bool
        /// Names the files of rows that were lost before the backup; nil if none.
        package var faults: String?
    }

    /// The name of the directory in which the backup is checked.
    static let workName = "restore.partial"
    /// Names that an empty data directory may have.
    private static let ignored: Set<String> = [BackupLayout.lock, workName, "lost+found"]

    private let backup: String
    private let sums: Checksums
    private let migrations: [SchemaMigration]
    private let progress: ProgressReceiver

    /// Reads the list of a backup's files.
    ///
    /// - Parameters:
    ///   - migrations: The migrations of all apps of this build.
    /// - Throws: ``BackupError/notABackup(path:reason:)``, `StorageError`.
    package init(
        of backup: URL,
        migrations: [SchemaMigration],
        progress: @escaping ProgressReceiver = { _ in }
    ) throws {
        guard let path = RealPath.of(backup.path) else {
            throw BackupError.notABackup(path: backup.path, reason: "it does not exist or cannot be entered")
        }
        let list = "\(path)/\(Checksums.fileName)"
        guard FileManager.default.fileExists(atPath: list) else {
            throw BackupError.notABackup(path: path, reason: "it has no \(Checksums.fileName)")
        }
        let file = try OpenFile(list, O_RDONLY)
        let text = try file.read(at: 0, count: RealPath.length(of: list))
        guard let sums = Checksums(parsing: String(decoding: text, as: UTF8.self)) else {
            throw BackupError.notABackup(path: path, reason: "its \(Checksums.fileName) is cut or was changed")
        }
        self.backup = path
        self.sums = sums
        self.migrations = migrations
        self.progress = progress
    }

    /// Restores the backup.
    ///
    /// - Parameter directory: An empty data directory, or a path that does not exist.
    /// - Throws: ``BackupError``, `StorageError`. Then the directory has nothing that it had not before.
    package func write(to directory: URL) throws -> Report {
        let path = directory.standardizedFileURL.path
        let isNew = RealPath.kind(of: path) == nil
        if !isNew { try Self.checkEmpty(path) }
        let parent = (path as NSString).deletingLastPathComponent
        if let real = RealPath.of(isNew ? parent : path), RealPath.isInside(real, backup) {
            throw BackupError.directoryUnsuitable(path: path, reason: "it is inside the backup")
        }
        let directory = try DataDirectory(at: directory)
        // Another process may have used it before this one had the lock.
        try Self.checkEmpty(path)
        let work = "\(path)/\(Self.workName)"
        do {
            try OpenFile.remove(work)
            let report = try copy(to: work)
            try Self.publish(work, in: directory)
            return report
        } catch {
            try? OpenFile.remove(work)
            if isNew {
                unlink("\(path)/\(BackupLayout.lock)")
                rmdir(path)
            }
            throw error
        }
    }

    private static func checkEmpty(_ path: String) throws {
        guard RealPath.of(path).flatMap(RealPath.kind) == S_IFDIR else {
            throw BackupError.directoryUnsuitable(path: path, reason: "it is not a directory")
        }
        let names = try OpenFile.names(in: path).filter { !ignored.contains($0) }.sorted()
        guard names.isEmpty else { throw BackupError.directoryNotEmpty(path: path, names: names) }
    }

    /// Copies the files, compares their digests, and checks whether they belong together.
    private func copy(to path: String) throws -> Report {
        let work = try DataDirectory(at: URL(filePath: path, directoryHint: .isDirectory))
        try StorageError.check("mkdir", work.blobsPath) { mkdir(work.blobsPath, 0o700) }
        try copyFiles(to: path)
        progress(StorageProgress(.check))
        let found = try DirectoryCheck(ofCopy: work, from: backup, migrations: migrations)
        guard !found.isNew else { throw BackupError.notABackup(path: backup, reason: "it has no database") }
        let missing = found.lostPaths.subtracting(sums.lost)
        guard missing.isEmpty else { throw BackupError.changed(path: backup, files: missing.sorted()) }
        let faults = found.files.faults()
        return Report(origin: sums.origin, files: sums.blobs, isCurrent: found.isCurrent, faults: faults)
    }

    private func copyFiles(to work: String) throws {
        let paths = sums.digests.keys.sorted()
        let total = paths.reduce(0) { $0 + RealPath.length(of: "\(backup)/\($1)") }
        var counter = ProgressCounter(.files, total: total, progress)
        var changed: [String] = []
        for path in paths {
            do {
                let digest = try PlacedFile.copy("\(backup)/\(path)", to: "\(work)/\(path)") { counter.add($0) }
                if digest != sums.digests[path] { changed.append(path) }
            } catch StorageError.inputOutput(_, "open", ENOENT) {
                changed.append(path)
            }
        }
        guard changed.isEmpty else { throw BackupError.changed(path: backup, files: changed) }
    }

    /// Gives the parts their names, the database last.
    private static func publish(_ work: String, in directory: DataDirectory) throws {
        try OpenFile.synchronizeDirectory("\(work)/\(BackupLayout.blobs)")
        let names = [BackupLayout.blobs, BackupLayout.key, BackupLayout.database].filter {
            RealPath.kind(of: "\(work)/\($0)") != nil
        }
        var moved: [String] = []
        do {
            for name in names {
                let (from, to) = ("\(work)/\(name)", "\(directory.path)/\(name)")
                try StorageError.check("rename", to) { rename(from, to) }
                moved.append(name)
                try OpenFile.synchronizeDirectory(directory.path)
            }
        } catch {
            for name in moved.reversed() { rename("\(directory.path)/\(name)", "\(work)/\(name)") }
            throw error
        }
        try OpenFile.remove(work)
    }
}

/// Puts copies of finished files into another directory.
enum PlacedFile {
    private static let part = 1 << 20

    /// Gives a finished file a second name, or copies it if the file systems or their rules require that.
    ///
    /// A finished blob is never written again, so both names can share one file.
    ///
    /// - Returns: Whether the file exists.
    static func place(_ source: String, at target: String) throws -> Bool {
        if link(source, target) == 0 {
            if RealPath.kind(of: target) == S_IFREG { return true }
            unlink(target)
            throw StorageError.inputOutput(path: source, operation: "link", code: EINVAL)
        }
        switch errno {
        case ENOENT: return false
        // Another file system, one without links, one with too many; a file of another user (fs.protected_hardlinks).
        case EXDEV, EPERM, EACCES, EMLINK, ENOTSUP, ENOSYS: break
        default: throw StorageError.system(errno, path: target, operation: "link")
        }
        do {
            _ = try copy(source, to: target)
        } catch StorageError.inputOutput(source, "open", ENOENT) {
            return false
        }
        return true
    }

    /// Copies a file and synchronizes the copy to the disk.
    ///
    /// - Parameter count: Is called with the number of bytes of each part.
    /// - Returns: The digest of its bytes, as ``digest(of:count:)`` does.
    static func copy(_ source: String, to target: String, count: (Int) -> Void = { _ in }) throws -> String {
        let input = try OpenFile(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let output = try OpenFile(target, O_WRONLY | O_CREAT | O_EXCL)
        let digest = try read(input) { bytes in
            try bytes.withUnsafeBytes { try output.write($0) }
            count(bytes.count)
        }
        try output.synchronize()
        return digest
    }

    /// Returns the SHA-256 digest of a file, in hexadecimal.
    static func digest(of path: String, count: (Int) -> Void = { _ in }) throws -> String {
        try read(OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)) { count($0.count) }
    }

    private static func read(_ file: OpenFile, _ take: (Data) throws -> Void) throws -> String {
        var hash = SHA256()
        var offset = 0
        while case let bytes = try file.read(at: offset, count: part), !bytes.isEmpty {
            hash.update(data: bytes)
            try take(bytes)
            offset += bytes.count
        }
        return hash.finalize().hexadecimal
    }
}
