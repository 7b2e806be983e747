package import Foundation

/// Random access to bytes, so that the header of a large file is read without loading the file.
package protocol ByteSource {
    var count: Int { get }

    /// Returns the bytes at these positions; fewer at the end, none beyond it.
    ///
    /// - Throws: the error of the source.
    func bytes(_ range: Range<Int>) throws -> [UInt8]
}

extension [UInt8]: ByteSource {
    /// The bytes at these positions.
    package func bytes(_ range: Range<Int>) -> [UInt8] { Array(self[range.clamped(to: 0..<count)]) }
}

/// Reads numbers from a source; a read beyond its end throws ``PictureHeaderError/truncated``.
package struct HeaderReader<Source: ByteSource> {
    let source: Source

    package init(source: Source) {
        self.source = source
    }

    package var count: Int { source.count }

    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= source.count - count else { throw PictureHeaderError.truncated }
        let bytes = try source.bytes(offset..<(offset + count))
        guard bytes.count == count else { throw PictureHeaderError.truncated }
        return bytes
    }

    package func byte(at offset: Int) throws -> Int { Int(try bytes(at: offset, count: 1)[0]) }

    /// An unsigned number of 1 to 7 bytes.
    package func number(at offset: Int, bytes count: Int, littleEndian: Bool = false) throws -> Int {
        let bytes = try bytes(at: offset, count: count)
        return (littleEndian ? bytes.reversed() : bytes).reduce(0) { $0 << 8 | Int($1) }
    }

    package func text(at offset: Int, count: Int) throws -> String {
        String(decoding: try bytes(at: offset, count: count), as: UTF8.self)
    }
}

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
