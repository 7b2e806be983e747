import Foundation

/// The exclusive hold of one process on one data directory, by flock(2): the kernel lets go of it when the process ends, however it ends.
///
/// The lock file stays behind when the lock is released. Removing it would let two processes hold locks on two files of one name.
final class DirectoryLock: Sendable {
    private let file: OpenFile
    /// A folder to remove with its contents when the lock is released.
    private let temporaryFolder: String?

    /// - Throws: ``StorageError/directoryInUse(path:pid:)`` when the directory is held already, also by this very process.
    init(directory: String, file path: String, isTemporary: Bool) throws {
        file = try OpenFile(path, O_RDWR | O_CREAT)
        temporaryFolder = isTemporary ? directory : nil
        guard retryingInterrupts({ flock(file.descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
            if errno == EWOULDBLOCK { throw StorageError.directoryInUse(path: directory, pid: try Self.holder(in: file)) }
            throw StorageError.system(errno, path: path, operation: "flock")
        }
        guard ftruncate(file.descriptor, 0) == 0 else { throw StorageError.system(errno, path: path, operation: "ftruncate") }
        try Array("\(getpid())\n".utf8).withUnsafeBytes { try file.write($0) }
    }

    deinit {
        // A folder below the system's temporary one that cannot be removed is the system's to clear; nobody is left to tell.
        if let temporaryFolder { try? FileManager.default.removeItem(atPath: temporaryFolder) }
    }

    private static func holder(in file: OpenFile) throws -> Int32? {
        let text = String(decoding: try file.read(at: 0, count: 20), as: UTF8.self)
        return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
