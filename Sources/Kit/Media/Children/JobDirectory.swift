import Foundation
import Synchronization

/// The private directory of a job. Names in it are Larder's own, so that no program takes a part of a name for an
/// option. It is removed after the job with everything in it.
final class JobDirectory: Sendable {
    private static let prefix = "job-"

    let path: String
    /// Files outside of it that are linked in it.
    private let links = Mutex<[String]>([])

    init(path: String) { self.path = path }

    /// Absolute paths of the files outside of it that are linked in it: the programs of the job may read them.
    var linked: [String] { links.withLock(\.self) }

    /// Absolute path of a file in it.
    func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Whether its file system has no room. Then the output of a program may be truncated even if the program reports
    /// success.
    var isFull: Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) < Self.leastRoom
            || (status.f_files > 0 && status.f_favail == 0)
    }

    /// Less than a small result, in bytes.
    private static let leastRoom: UInt64 = 16 << 10

    /// Writes a new file in it, readable by its owner only.
    ///
    /// - Returns: its absolute path.
    /// - Throws: `CocoaError` if it cannot be written.
    func write(_ bytes: Data, as name: String) throws -> String {
        let descriptor = open(path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path(name)]) }
        try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: bytes)
        return path(name)
    }

    /// Runs a job with a new directory below another one.
    ///
    /// - Throws: `CocoaError` if it cannot be created; errors of the job.
    static func lend<Value>(below root: String, _ job: (JobDirectory) async throws -> Value) async throws -> Value {
        let folder = JobDirectory(path: "\(root)/\(prefix)\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            atPath: folder.path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        return try await job(folder)
    }

    /// Removes the directories of jobs that a killed Larder has left.
    ///
    /// - Throws: Foundation's error.
    static func removeLeftovers(below root: String) throws {
        let manager = FileManager.default
        guard manager.fileExists(atPath: root) else { return }
        for name in try manager.contentsOfDirectory(atPath: root) where name.hasPrefix(prefix) {
            try manager.removeItem(atPath: "\(root)/\(name)")
        }
    }

    /// Links a file under a name of Larder's own.
    ///
    /// - Returns: the absolute path of the link.
    /// - Throws: Foundation's error.
    func link(_ file: URL, as name: String) throws -> String {
        let destination = file.absoluteURL.path
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: destination)
        links.withLock { $0.append(destination) }
        return path(name)
    }
}

/// Moves finished files atomically and durably: after a crash the destination has the old file or the whole new one.
enum FinishedFile {
    /// Synchronizes the file, renames it, and synchronizes the directory. Across file systems it is copied beside its
    /// destination first. A link is not followed: a program could have left it in place of its result.
    ///
    /// - Throws: `CocoaError`.
    static func move(_ path: String, to destination: URL) throws {
        let target = destination.path
        let folder = destination.deletingLastPathComponent().path
        try synchronize(path)
        if rename(path, target) != 0 {
            guard errno == EXDEV else { throw failure(target) }
            let beside = "\(folder)/.\(UUID().uuidString).part"
            do {
                try FileManager.default.copyItem(atPath: path, toPath: beside)
                try synchronize(beside)
                guard rename(beside, target) == 0 else { throw failure(target) }
            } catch {
                unlink(beside)
                throw error
            }
        }
        try synchronize(folder)
    }

    private static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> CocoaError {
        let code: CocoaError.Code =
            errno == ENOSPC ? .fileWriteOutOfSpace : errno == ENOENT ? .fileNoSuchFile : .fileWriteUnknown
        return CocoaError(code, userInfo: [NSFilePathErrorKey: path])
    }
}
