public import Foundation
import Synchronization

/// A folder of the data directory for what is kept for the length of a request: uploads, and what child processes make
/// of them. Empty after every start, so a crash leaves nothing for long; on one file system with the blobs, so that a
/// finished file becomes one by being renamed.
public struct ScratchFolder: Sendable {
    /// Absolute path.
    public let path: String

    /// Creates the folder, or empties the one that an earlier run has left.
    ///
    /// - Throws: ``StorageError``, or Foundation's error where something cannot be removed.
    public init(_ name: String, in directory: DataDirectory) throws {
        path = "\(directory.path)/\(name)"
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        guard mkdir(path, 0o700) == 0 else { throw StorageError.system(errno, path: path, operation: "mkdir") }
    }

    /// A place for a file that somebody else will write. Nothing is there yet; what is there in the end goes with the
    /// value.
    public func place(_ suffix: String = "") -> TemporaryPath {
        TemporaryPath(path: "\(path)/\(BlobID.random())\(suffix)")
    }

    /// A new, empty file to write to.
    ///
    /// - Throws: ``StorageError``.
    public func file(_ suffix: String = "") throws -> ScratchFile {
        try ScratchFile(place(suffix))
    }
}

/// The path of a file that is removed with the last reference to this.
public final class TemporaryPath: Sendable {
    /// Absolute path.
    public let path: String

    init(path: String) {
        self.path = path
    }

    deinit {
        // What cannot be removed now is removed at the next start.
        unlink(path)
    }
}

/// A file being written at a ``TemporaryPath``. The calls block until the operating system has taken the bytes.
public final class ScratchFile: Sendable {
    /// Where it is.
    public let place: TemporaryPath
    private let file: OpenFile
    private let written = Mutex(0)

    init(_ place: TemporaryPath) throws {
        self.place = place
        file = try OpenFile(place.path, O_WRONLY | O_CREAT | O_EXCL)
    }

    /// Bytes written so far.
    public var length: Int { written.withLock { $0 } }

    /// Adds bytes to the end.
    ///
    /// - Throws: ``StorageError``.
    public func append(_ bytes: some DataProtocol) throws {
        try written.withLock { length in
            for region in bytes.regions { try region.withUnsafeBytes { try file.write($0) } }
            length += bytes.count
        }
    }
}
