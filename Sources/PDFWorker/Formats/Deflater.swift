import CZlib
import Foundation

/// Compresses bytes to a zlib stream (RFC 1950).
final class Deflater {
    /// zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = Data()
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// Creates it.
    ///
    /// - Parameter isFiltered: Whether the bytes are mostly small differences.
    /// - Throws: ``JobError`` if there is not enough memory.
    init(level: Int32, isFiltered: Bool) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        let strategy = isFiltered ? Z_FILTERED : Z_DEFAULT_STRATEGY
        let status = deflateInit2_(stream, level, Z_DEFLATED, 15, 9, strategy, zlibVersion(), size)
        guard status == Z_OK else { throw JobError.outOfMemory() }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses the next bytes.
    func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
        while stream.pointee.avail_in > 0 { step(Z_NO_FLUSH) }
    }

    /// Returns the whole stream.
    func finish() -> Data {
        while step(Z_FINISH) != Z_STREAM_END {}
        return output
    }

    @discardableResult private func step(_ flush: Int32) -> Int32 {
        buffer.withUnsafeMutableBufferPointer { buffer in
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            let status = deflate(stream, flush)
            let count = buffer.count - Int(stream.pointee.avail_out)
            output.append(UnsafeBufferPointer(start: buffer.baseAddress, count: count))
            return status
        }
    }
}
