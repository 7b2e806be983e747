package import Foundation

/// The directory that a backup becomes: it is written under another name beside it, and renamed when it is complete.
package struct BackupTarget {
    let path: String
    /// Where the backup is written: locked, so that no other process writes there, and empty at first.
    let work: DataDirectory

    /// Checks the target, and prepares the directory beside it.
    ///
    /// - Parameters:
    ///   - url: The target: a path that does not exist, or an empty directory.
    ///   - sources: Directories that are backed up.
    /// - Throws: ``BackupError``, ``StorageError``.
    init(_ url: URL, apartFrom sources: [String]) throws {
        path = try Self.resolve(url.standardizedFileURL.path)
        for source in sources where RealPath.isInside(path, source) {
            throw BackupError.targetUnsuitable(path: path, reason: "it is inside the data directory \(source)")
        }
        try Self.checkEmpty(path)
        let unfinished = path + ".partial"
        switch RealPath.kind(of: unfinished) {
        case nil: break
        case S_IFDIR:
            let names = try OpenFile.names(in: unfinished)
            if let other = names.filter({ !BackupLayout.isUnfinished($0) }).min() {
                throw BackupError.targetUnsuitable(path: path, reason: "\(unfinished) has other files: \(other)")
            }
        default: throw BackupError.targetUnsuitable(path: path, reason: "\(unfinished) is in the way")
        }
        do {
            work = try DataDirectory(at: URL(filePath: unfinished, directoryHint: .isDirectory))
        } catch StorageError.directoryInUse(_, let pid) {
            throw BackupError.targetInUse(path: path, pid: pid)
        }
        try BackupLayout.removeUnfinished(in: work.path)
        // Another backup may have been completed before this one had the lock.
        try Self.checkEmpty(path)
        try StorageError.check("mkdir", work.blobsPath) { [work] in mkdir(work.blobsPath, 0o700) }
    }

    /// Checks that a backup may be written to a target, before anything is copied for it.
    ///
    /// - Returns: The target's path, without symbolic links.
    /// - Throws: ``BackupError``, ``StorageError``.
    package static func check(_ url: URL) throws -> String {
        let path = try resolve(url.standardizedFileURL.path)
        try checkEmpty(path)
        return path
    }

    /// Gives the complete backup its name.
    ///
    /// - Throws: ``BackupError``, ``StorageError``.
    func publish() throws {
        try OpenFile.synchronizeDirectory(work.blobsPath)
        try OpenFile.synchronizeDirectory(work.path)
        guard rename(work.path, path) == 0 else {
            switch errno {
            case ENOTEMPTY, EEXIST: throw BackupError.targetNotEmpty(path: path)
            case EBUSY: throw Self.mountPoint(path)
            default: throw StorageError.system(errno, path: path, operation: "rename")
            }
        }
        do {
            try OpenFile.synchronizeDirectory(Self.parent(of: path))
        } catch {
            rename(path, work.path)
            throw error
        }
        // Only now: without its lock, the unfinished directory could be taken by another process.
        unlink("\(path)/\(BackupLayout.lock)")
    }

    /// Removes the written files. The next backup to the same target removes those that cannot be removed now.
    func discard() {
        guard (try? BackupLayout.removeUnfinished(in: work.path)) != nil else { return }
        unlink("\(work.path)/\(BackupLayout.lock)")
        rmdir(work.path)
    }

    /// Resolves symbolic links. A missing parent is refused: it may be a volume that is not mounted.
    private static func resolve(_ path: String) throws -> String {
        let parent = Self.parent(of: path)
        guard let real = RealPath.of(parent) else {
            throw BackupError.targetUnsuitable(path: path, reason: "\(parent) does not exist or cannot be entered")
        }
        let resolved = (real == "/" ? "" : real) + "/" + (path as NSString).lastPathComponent
        guard RealPath.kind(of: resolved) == S_IFLNK else { return resolved }
        guard let target = RealPath.of(resolved) else {
            throw BackupError.targetUnsuitable(path: path, reason: "it is a symbolic link that leads nowhere")
        }
        return target
    }

    private static func checkEmpty(_ path: String) throws {
        switch RealPath.kind(of: path) {
        case nil: return
        case S_IFDIR: break
        default: throw BackupError.targetUnsuitable(path: path, reason: "it is not a directory")
        }
        guard try OpenFile.names(in: path).isEmpty else { throw BackupError.targetNotEmpty(path: path) }
        guard RealPath.device(of: path) == RealPath.device(of: parent(of: path)) else { throw mountPoint(path) }
    }

    private static func mountPoint(_ path: String) -> BackupError {
        .targetUnsuitable(path: path, reason: "it is a mount point; name a new directory in it")
    }

    private static func parent(of path: String) -> String { (path as NSString).deletingLastPathComponent }
}

/// Paths as the file system sees them.
enum RealPath {
    /// Resolves all symbolic links; nil if there is no such file.
    static func of(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether a resolved path is a resolved directory, or inside of it.
    static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || path.hasPrefix(directory.hasSuffix("/") ? directory : directory + "/")
    }

    /// Returns the kind of a file (`S_IFMT`), which is not followed if it is a symbolic link; nil if there is none.
    static func kind(of path: String) -> mode_t? { fileStatus(path).map { $0.st_mode & S_IFMT } }

    static func length(of path: String) -> Int { Int(fileStatus(path)?.st_size ?? 0) }

    static func device(of path: String) -> dev_t? { fileStatus(path, follows: true)?.st_dev }
}

/// The files of a backup: those of a data directory without the files that only a running server needs, and
/// ``Checksums``.
enum BackupLayout {
    static let database = "larder.sqlite"
    static let key = "larder.key"
    static let blobs = "blobs"
    static let identity = "blobs/.identity"
    static let lock = "larder.lock"

    static func path(of blob: BlobID) -> String { "\(blobs)/\(blob)" }

    /// Whether a path is that of a file whose digest belongs into the list.
    static func isFile(_ path: String) -> Bool {
        [database, key, identity].contains(path) || blob(at: path) != nil
    }

    /// Returns the blob whose file has this path; nil if it is another file.
    static func blob(at path: String) -> BlobID? {
        guard path.hasPrefix(blobs + "/") else { return nil }
        return BlobID(fileName: String(path.dropFirst(blobs.count + 1)))
    }

    /// Whether a name is one of those of an interrupted backup.
    static func isUnfinished(_ name: String) -> Bool {
        let files = [database, key, Checksums.fileName, "larder.probe"]
        return name == blobs || name == lock
            || files.contains { name == $0 || ["-journal", "-wal", "-shm", ".part"].map($0.appending).contains(name) }
    }

    /// Removes the remains of an interrupted backup in a directory, except its lock.
    static func removeUnfinished(in directory: String) throws {
        for name in try OpenFile.names(in: directory) where isUnfinished(name) && name != lock {
            let path = "\(directory)/\(name)"
            if name == blobs { try OpenFile.removeContents(of: path) }
            try StorageError.check("unlink", path, except: ENOENT) { name == blobs ? rmdir(path) : unlink(path) }
        }
    }
}
