import Database
import Foundation

/// The files of a backup: those of a data directory without what only a running server needs, and ``Checksums``.
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

    /// Removes what an interrupted backup has left in a directory, except its lock.
    ///
    /// - Throws: ``StorageError``.
    static func removeUnfinished(in directory: String) throws {
        for name in try OpenFile.names(in: directory) where isUnfinished(name) && name != lock {
            let path = "\(directory)/\(name)"
            if name == blobs { try OpenFile.removeContents(of: path) }
            guard (name == blobs ? rmdir(path) : unlink(path)) == 0 || errno == ENOENT else {
                throw StorageError.system(errno, path: path, operation: "unlink")
            }
        }
    }
}
