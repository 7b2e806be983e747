import CZlib
import Database
import Foundation

/// A text of an archive while it is written: compressed into a file, so that its length does not matter.
package final class ZipText {
    /// zlib could not compress.
    struct Failure: Error {
        /// zlib's return code.
        let code: Int32
    }

    let file: ScratchFile
    private let stream: UnsafeMutablePointer<z_stream>
    private var pending: [UInt8] = []
    private(set) var checksum: UInt = crc32(0, nil, 0)
    private(set) var length = 0

    /// Bytes that are compressed together.
    private static let chunk = 1 << 16

    /// - Parameter level: of the compression, from 0 to 9.
    init(_ file: ScratchFile, level: Int32 = 6) throws {
        self.file = file
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // Negative window bits: deflate without a wrapper (zlib.h).
        let size = Int32(MemoryLayout<z_stream>.size)
        let code = deflateInit2_(stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        guard code == Z_OK else { throw Failure(code: code) }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Appends bytes.
    ///
    /// - Throws: `StorageError`, or that zlib could not compress.
    package func append(_ bytes: some Sequence<UInt8>) throws {
        pending += bytes
        if pending.count >= Self.chunk { try compress(Z_NO_FLUSH) }
    }

    /// Appends a text.
    ///
    /// - Throws: `StorageError`, or that zlib could not compress.
    package func append(_ text: String) throws { try append(text.utf8) }

    func finish() throws { try compress(Z_FINISH) }

    private func compress(_ flush: Int32) throws {
        var output = [UInt8](repeating: 0, count: Self.chunk)
        try pending.withUnsafeMutableBufferPointer { source in
            checksum = crc32(checksum, source.baseAddress, UInt32(source.count))
            length += source.count
            stream.pointee.next_in = source.baseAddress
            stream.pointee.avail_in = UInt32(source.count)
            var isFull = true
            while isFull {
                let written = try output.withUnsafeMutableBufferPointer { target in
                    stream.pointee.next_out = target.baseAddress
                    stream.pointee.avail_out = UInt32(target.count)
                    let code = deflate(stream, flush)
                    guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                        throw Failure(code: code)
                    }
                    return target.count - Int(stream.pointee.avail_out)
                }
                try file.append(output[..<written])
                isFull = written == output.count
            }
        }
        pending.removeAll(keepingCapacity: true)
    }
}
