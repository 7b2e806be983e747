package import Foundation
import Synchronization

/// A folder of the data directory for files that exist during a request: uploads, and the output of child processes.
///
/// It is emptied at each start. It is on the file system of the blobs, so that a finished file becomes a blob by being
/// renamed.
package struct ScratchFolder: Sendable {
    package let path: String

    /// Creates the folder, or empties that of an earlier run.
    package init(_ name: String, in directory: DataDirectory) throws {
        path = "\(directory.path)/\(name)"
        // An existing folder stays: on a full disk there is no space for a new one.
        guard mkdir(path, 0o700) != 0 else { return }
        guard errno == EEXIST else { throw StorageError.system(errno, path: path, operation: "mkdir") }
        try OpenFile.removeContents(of: path)
    }

    /// Returns an unused path for a file that a child process will write. The file is removed with the value.
    package func place(_ suffix: String = "") -> TemporaryPath {
        TemporaryPath(path: "\(path)/\(BlobID.random())\(suffix)")
    }

    package func file(_ suffix: String = "") throws -> ScratchFile {
        try ScratchFile(place(suffix))
    }
}

/// The path of a file that is removed with the last reference to it.
package final class TemporaryPath: Sendable {
    package let path: String

    init(path: String) {
        self.path = path
    }

    deinit {
        // A file that cannot be removed now is removed at the next start.
        unlink(path)
    }
}

extension TemporaryPath {
    /// Reads the first bytes of the file in parts.
    ///
    /// - Throws: ``StorageError``; Foundation's errors; errors of `body`.
    package func forEachChunk(of length: Int, _ body: (Data) async throws -> Void) async throws {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        var rest = length
        while rest > 0 {
            try Task.checkCancellation()
            guard let chunk = try file.read(upToCount: min(rest, 1 << 16)), !chunk.isEmpty else {
                throw StorageError.system(EIO, path: path, operation: "read")
            }
            try await body(chunk)
            rest -= chunk.count
        }
    }
}

/// A file that is written at a ``TemporaryPath``. The calls block until the operating system has accepted the bytes.
package final class ScratchFile: Sendable {
    package let place: TemporaryPath
    private let file: OpenFile
    private let written = Mutex(0)

    init(_ place: TemporaryPath) throws {
        self.place = place
        file = try OpenFile(place.path, O_WRONLY | O_CREAT | O_EXCL)
    }

    /// Number of bytes written so far.
    package var length: Int { written.withLock { $0 } }

    package func append(_ bytes: some DataProtocol) throws {
        try written.withLock { length in
            for region in bytes.regions { try region.withUnsafeBytes { try file.write($0) } }
            length += bytes.count
        }
    }
}
