package import Foundation

/// The locked folder that holds all data of one Larder: the database, the blobs, the key that seals the secrets.
///
/// While a value of this type exists, no other process can create one for the same folder.
package struct DataDirectory: Sendable {
    /// Absolute path of the folder.
    package let path: String
    private let lock: DirectoryLock

    /// The SQLite database; SQLite keeps its `-wal` and `-shm` beside it.
    package var databasePath: String { "\(path)/\(Self.databaseName)" }
    package static let databaseName = "larder.sqlite"
    /// The folder of the bodies that are too large for the database.
    package var blobsPath: String { path + "/blobs" }
    /// The 256-bit key that seals the secrets of the database. Without it, a backup cannot read them.
    package var keyPath: String { path + "/larder.key" }

    /// The name of the file that is locked.
    package static let lockName = "larder.lock"
    /// The file that reserves space for deleting on a full disk.
    var reservePath: String { path + "/larder.reserve" }

    /// Creates the folder and its parents if they are missing (mode 0700), and takes the lock.
    ///
    /// - Throws: ``StorageError/directoryInUse(path:pid:)``, ``StorageError/notWritable(path:)``,
    ///   ``StorageError/diskFull(path:)`` or ``StorageError/inputOutput(path:operation:code:)``.
    package init(at url: URL) throws {
        try self.init(path: url.standardizedFileURL.path, isTemporary: false)
    }

    /// Creates a folder in the system's temporary folder. It is removed with its contents with the last copy of the
    /// value.
    ///
    /// - Throws: ``StorageError``.
    package static func temporary() throws -> DataDirectory {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "larder-\(UUID().uuidString)",
            isDirectory: true
        )
        return try DataDirectory(path: url.path, isTemporary: true)
    }

    private init(path: String, isTemporary: Bool) throws {
        self.path = path
        try Self.createFolder(path)
        lock = try DirectoryLock(directory: path, file: path + "/" + Self.lockName, isTemporary: isTemporary)
    }

    /// Creates the folder of the blobs if it is missing.
    func createBlobsFolder(synchronizes: Bool) throws {
        try Self.createFolder(blobsPath)
        if synchronizes { try OpenFile.synchronizeDirectory(path) }
    }

    /// Creates a folder and its parents with mkdir(2), because Foundation does not say which right or device was at
    /// fault.
    private static func createFolder(_ path: String) throws {
        if mkdir(path, 0o700) == 0 { return }
        let code = errno
        if code == ENOENT, path != "/", case let parent = (path as NSString).deletingLastPathComponent, parent != path {
            try createFolder(parent)
            if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
            throw StorageError.system(errno, path: path, operation: "mkdir")
        }
        // A read-only file system reports EROFS even for a folder that exists.
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return }
        throw StorageError.system(code == EEXIST ? ENOTDIR : code, path: path, operation: "mkdir")
    }

    /// Removes everything in the folder but its lock, so that the next database begins as in a new one. No database may
    /// be open in it.
    ///
    /// - Parameter names: Entries that stay beside the lock.
    /// - Throws: ``StorageError``.
    package func removeContents(but names: Set<String> = []) throws {
        let kept = names.union([Self.lockName])
        for name in try OpenFile.names(in: path) where !kept.contains(name) {
            try OpenFile.remove("\(path)/\(name)")
        }
    }

    /// Removes the folder with everything in it. No database may be open in it.
    ///
    /// - Throws: ``StorageError``.
    package func remove() throws { try OpenFile.remove(path) }
}
