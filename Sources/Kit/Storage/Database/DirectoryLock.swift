import Foundation

/// Locks a data directory for one process by flock(2). The kernel releases the lock whenever the process ends.
///
/// The lock file stays behind when the lock is released. If it were removed, two processes could hold locks on two
/// files of one name.
final class DirectoryLock: Sendable {
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

    /// Writes the id of this process over that of the last one, before the file is cut: on a full disk a file without
    /// content would get none.
    private static func writeHolder(to file: OpenFile) throws {
        let text = Array("\(getpid())\n".utf8)
        do {
            try text.withUnsafeBytes { try file.write($0) }
            guard ftruncate(file.descriptor, off_t(text.count)) == 0 else {
                throw StorageError.system(errno, path: file.path, operation: "ftruncate")
            }
        } catch StorageError.diskFull {
            // The lock holds without it; only the message of another process lacks the id.
        }
    }

    deinit {
        // A folder of tests in the system's temporary folder: files that cannot be removed here are cleared by the
        // system.
        if let temporaryFolder { try? FileManager.default.removeItem(atPath: temporaryFolder) }
    }

    private static let attempts = 100
    private static let pauseMicroseconds: UInt32 = 20_000

    /// Returns whether the lock may be released at once: a child that was started while it was held has a copy of it
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
