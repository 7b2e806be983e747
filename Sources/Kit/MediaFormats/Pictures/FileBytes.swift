package import Foundation

/// An open file as a byte source.
package final class FileBytes: ByteSource {
    private let descriptor: Int32
    /// Its length when it was opened, in bytes.
    package let count: Int

    /// Opens a regular file.
    ///
    /// - Throws: `CocoaError`, as Foundation does if a file cannot be read.
    package init(_ url: URL) throws {
        descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let code: CocoaError.Code = descriptor < 0 && errno == ENOENT ? .fileReadNoSuchFile : .fileReadUnknown
            if descriptor >= 0 { close(descriptor) }
            throw CocoaError(code, userInfo: [NSFilePathErrorKey: url.path])
        }
        count = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// The bytes at these positions.
    ///
    /// - Throws: `CocoaError` if the file cannot be read.
    package func bytes(_ range: Range<Int>) throws -> [UInt8] {
        let range = range.clamped(to: 0..<count)
        guard !range.isEmpty else { return [] }
        return try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            while filled < range.count {
                let read = pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: filled),
                    range.count - filled,
                    off_t(range.lowerBound + filled)
                )
                if read < 0 && errno == EINTR { continue }
                guard read >= 0 else { throw CocoaError(.fileReadUnknown) }
                if read == 0 { break }
                filled += read
            }
        }
    }
}
