import Foundation

/// The exclusive hold of one process on one data directory, by flock(2): the kernel lets go of it when the process
/// ends, however it ends.
///
/// The lock file stays behind when the lock is released. Removing it would let two processes hold locks on two files of
/// one name.
final class DirectoryLock: Sendable {
    private let file: OpenFile
    /// A folder to remove with its contents when the lock is released.
    private let temporaryFolder: String?

    /// - Throws: ``StorageError/directoryInUse(path:pid:)`` when the directory is held already, also by this very
    ///   process.
    init(directory: String, file path: String, isTemporary: Bool) throws {
        file = try OpenFile(path, O_RDWR | O_CREAT)
        temporaryFolder = isTemporary ? directory : nil
        var attempts = 0
        while retryingInterrupts({ flock(file.descriptor, LOCK_EX | LOCK_NB) }) != 0 {
            guard errno == EWOULDBLOCK else { throw StorageError.system(errno, path: path, operation: "flock") }
            let holder = try Self.holder(in: file)
            attempts += 1
            guard attempts < Self.attempts, Self.isLettingGo(holder) else {
                throw StorageError.directoryInUse(path: directory, pid: holder)
            }
            usleep(Self.pauseMicroseconds)
        }
        guard ftruncate(file.descriptor, 0) == 0 else {
            throw StorageError.system(errno, path: path, operation: "ftruncate")
        }
        try Array("\(getpid())\n".utf8).withUnsafeBytes { try file.write($0) }
    }

    deinit {
        // A folder below the system's temporary one that cannot be removed is the system's to clear; nobody is left to
        // tell.
        if let temporaryFolder { try? FileManager.default.removeItem(atPath: temporaryFolder) }
    }

    private static let attempts = 100
    private static let pauseMicroseconds: UInt32 = 20_000

    /// Whether the hold may end by itself at once: a child that was started while the lock was held has a copy of it
    /// until it becomes another program (fork(2), execve(2)), after its parent, this process or one that is no more,
    /// has let go.
    private static func isLettingGo(_ holder: Int32?) -> Bool {
        guard let holder else { return true }  // It has the lock and has not written yet.
        return holder == getpid() || (kill(holder, 0) != 0 && errno == ESRCH)
    }

    private static func holder(in file: OpenFile) throws -> Int32? {
        let text = String(decoding: try file.read(at: 0, count: 20), as: UTF8.self)
        return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
