package import Foundation
import GRDB

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
    package func removeContents(but names: Set<String> = []) throws {
        let kept = names.union([Self.lockName])
        for name in try OpenFile.names(in: path) where !kept.contains(name) {
            try OpenFile.remove("\(path)/\(name)")
        }
    }

    /// Removes the folder with everything in it. No database may be open in it.
    package func remove() throws { try OpenFile.remove(path) }
}

/// The identity of a data directory, which its database and blobs share: 128 random bits.
///
/// The database has it in a row, the folder of the blobs in a file. The key is tied to them by its fingerprint
/// (``SealingKey``).
struct DirectoryIdentity: Sendable, Equatable, CustomStringConvertible {
    /// 32 hexadecimal digits.
    let description: String

    init() {
        description = UUID().uuidString.replacing("-", with: "").lowercased()
    }

    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.allSatisfy(\.isHexDigit) else { return nil }
        description = String(text)
    }

    static let migrations = [
        SchemaMigration(
            "storage/008 identity",
            sql: """
                CREATE TABLE data_directory (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    identity TEXT NOT NULL          -- the same as in blobs/.identity
                ) STRICT;

                PRAGMA application_id = \(applicationID);
                """
        )
    ]

    /// `Lard`, in the header of the database.
    static let applicationID = 0x4C61_7264

    /// Returns the path of the file in the folder of the blobs.
    static func path(in folder: String) -> String { folder + "/.identity" }

    /// Reads the identity of the blobs in a folder; nil if they have none yet.
    ///
    /// - Throws: ``StorageError/malformedIdentity(path:)`` and others.
    static func read(in folder: String) throws -> DirectoryIdentity? {
        let path = path(in: folder)
        guard let bytes = try OpenFile.ifPresent(path)?.read(at: 0, count: 64) else { return nil }
        guard let identity = DirectoryIdentity(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines))
        else {
            throw StorageError.malformedIdentity(path: path)
        }
        return identity
    }

    /// Reads the identity of a database; nil if it has none yet.
    ///
    /// - Throws: ``StorageError/malformedIdentity(path:)``; errors of the database.
    static func read(_ db: Database, path: String) throws -> DirectoryIdentity? {
        guard let text = try String.fetchOne(db, sql: "SELECT identity FROM data_directory") else { return nil }
        guard let identity = DirectoryIdentity(text) else { throw StorageError.malformedIdentity(path: path) }
        return identity
    }

    /// Gives database and blobs one identity if either has none yet, and synchronizes it to the disk.
    static func establish(_ found: DirectoryCheck, _ pool: DatabasePool, folder: String) throws {
        let identity = found.databaseIdentity ?? found.blobsIdentity ?? DirectoryIdentity()
        if found.databaseIdentity == nil {
            try pool.write { db in
                try db.execute(
                    sql: "INSERT INTO data_directory (one, identity) VALUES (1, ?)",
                    arguments: [identity.description]
                )
            }
        }
        if found.blobsIdentity == nil { try OpenFile.create(path(in: folder), Data("\(identity)\n".utf8)) }
    }
}

extension LarderDatabase {
    /// Returns the identity of the data directory, which a copy of the directory shares.
    package func identity() throws -> String {
        try read { try DirectoryIdentity.read($0, path: directory.databasePath)?.description } ?? ""
    }
}

/// Locks a data directory for one process by flock(2). The kernel releases the lock whenever the process ends.
///
/// The lock file stays behind when the lock is released. If it were removed, two processes could hold locks on two
/// files of one name.
private final class DirectoryLock: Sendable {
    private let file: OpenFile
    /// The folder to remove with its contents when the lock is released.
    private let temporaryFolder: String?

    /// - Throws: ``StorageError/directoryInUse(path:pid:)`` if the directory is locked already, also by this process;
    ///   other ``StorageError``s.
    init(directory: String, file path: String, isTemporary: Bool) throws {
        file = try OpenFile(path, O_RDWR | O_CREAT)
        temporaryFolder = isTemporary ? directory : nil
        var attempts = 0
        while retryingInterrupts({ flock(file.descriptor, LOCK_EX | LOCK_NB) }) != 0 {
            guard errno == EWOULDBLOCK else { throw StorageError.system(errno, path: path, operation: "flock") }
            let holder = try Self.holder(in: file)
            attempts += 1
            guard attempts < Self.attempts, Self.isBeingReleased(holder) else {
                throw StorageError.directoryInUse(path: directory, pid: holder)
            }
            usleep(Self.pauseMicroseconds)
        }
        try Self.writeHolder(to: file)
    }

    /// Writes the id of this process over that of the last one, before the file is truncated: on a full disk an empty
    /// file would get none.
    private static func writeHolder(to file: OpenFile) throws {
        let text = Array("\(getpid())\n".utf8)
        do {
            try text.withUnsafeBytes { try file.write($0) }
            try StorageError.check("ftruncate", file.path) { ftruncate(file.descriptor, off_t(text.count)) }
        } catch StorageError.diskFull {
            // The lock holds without it; only the message of another process lacks the id.
        }
    }

    deinit {
        // A folder of tests in the system's temporary folder: the system clears files that cannot be removed here.
        if let temporaryFolder { try? FileManager.default.removeItem(atPath: temporaryFolder) }
    }

    private static let attempts = 100
    private static let pauseMicroseconds: UInt32 = 20_000

    /// Returns whether the lock may be released at once. A child that was started while it was held has a copy of it
    /// until execve(2), even after its parent has released it or has ended.
    private static func isBeingReleased(_ holder: Int32?) -> Bool {
        guard let holder else { return true }  // It has the lock and has not written its id yet.
        return holder == getpid() || (kill(holder, 0) != 0 && errno == ESRCH)
    }

    private static func holder(in file: OpenFile) throws -> Int32? {
        let text = String(decoding: try file.read(at: 0, count: 20), as: UTF8.self)
        return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
