import Foundation
import Synchronization

/// The private folder of one job: names in it are Larder's own, so that no program takes a part of a name for an
/// option. It goes with all that is in it.
final class JobDirectory: Sendable {
    private static let prefix = "job-"

    /// Absolute path.
    let path: String
    /// Files elsewhere that are known here.
    private let links = Mutex<[String]>([])

    private init(path: String) { self.path = path }

    /// Absolute paths of the files elsewhere that are known here: whoever works in the folder may read them.
    var linked: [String] { links.withLock(\.self) }

    /// Absolute path of a file in it.
    func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a new file in it, readable by its owner only.
    ///
    /// - Returns: its absolute path.
    /// - Throws: `CocoaError` where it cannot be written.
    func write(_ bytes: Data, as name: String) throws -> String {
        let descriptor = open(path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path(name)]) }
        try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: bytes)
        return path(name)
    }

    /// Lends a new folder below another one for as long as a job takes.
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

    /// Removes the folders of jobs that a killed Larder has left.
    static func removeLeftovers(below root: String) throws {
        let manager = FileManager.default
        guard manager.fileExists(atPath: root) else { return }
        for name in try manager.contentsOfDirectory(atPath: root) where name.hasPrefix(prefix) {
            try manager.removeItem(atPath: "\(root)/\(name)")
        }
    }

    /// Makes a file known here under a name of Larder's own.
    func link(_ file: URL, as name: String) throws -> String {
        let destination = file.absoluteURL.path
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: destination)
        links.withLock { $0.append(destination) }
        return path(name)
    }
}
