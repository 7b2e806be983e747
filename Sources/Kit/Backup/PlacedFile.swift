import Crypto
import Database
import Foundation

/// Puts copies of finished files into another directory.
enum PlacedFile {
    private static let part = 1 << 20

    /// Gives a finished file a second name, or copies it if the file systems or their rules require that.
    ///
    /// A finished blob is never written again, so both names can share one file.
    ///
    /// - Returns: Whether the file exists.
    /// - Throws: ``StorageError``.
    static func place(_ source: String, at target: String) throws -> Bool {
        if link(source, target) == 0 {
            var status = stat()
            if lstat(target, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return true }
            unlink(target)
            throw StorageError.inputOutput(path: source, operation: "link", code: EINVAL)
        }
        switch errno {
        case ENOENT: return false
        // Another file system, one without links, one with too many; a file of another user (fs.protected_hardlinks).
        case EXDEV, EPERM, EACCES, EMLINK, ENOTSUP, ENOSYS: break
        default: throw StorageError.system(errno, path: target, operation: "link")
        }
        do {
            _ = try copy(source, to: target)
        } catch StorageError.inputOutput(source, "open", ENOENT) {
            return false
        }
        return true
    }

    /// Copies a file and synchronizes the copy to the disk.
    ///
    /// - Parameter count: Is called with the number of bytes of each part.
    /// - Returns: The digest of its bytes, as ``digest(of:count:)`` does.
    /// - Throws: ``StorageError``.
    static func copy(_ source: String, to target: String, count: (Int) -> Void = { _ in }) throws -> String {
        let input = try OpenFile(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let output = try OpenFile(target, O_WRONLY | O_CREAT | O_EXCL)
        let digest = try read(input) { bytes in
            try bytes.withUnsafeBytes { try output.write($0) }
            count(bytes.count)
        }
        try output.synchronize()
        return digest
    }

    /// Returns the SHA-256 digest of a file, in hexadecimal.
    ///
    /// - Throws: ``StorageError``.
    static func digest(of path: String, count: (Int) -> Void = { _ in }) throws -> String {
        try read(OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)) { count($0.count) }
    }

    private static func read(_ file: OpenFile, _ take: (Data) throws -> Void) throws -> String {
        var hash = SHA256()
        var offset = 0
        while case let bytes = try file.read(at: offset, count: part), !bytes.isEmpty {
            hash.update(data: bytes)
            try take(bytes)
            offset += bytes.count
        }
        return hash.finalize().map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
