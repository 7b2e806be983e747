import CZlib
import Foundation

/// Compresses bytes to a zlib stream (RFC 1950).
final class Deflater {
    /// On the heap, because zlib refuses a stream that was moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = Data()
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter isFiltered: Whether most of the bytes are small differences.
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

    func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
        while stream.pointee.avail_in > 0 { step(Z_NO_FLUSH) }
    }

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

/// Decompression with a limit. It is used for the colour profile of a PNG, the only data that the worker decompresses.
enum Inflation {
    /// Decompresses a zlib stream (RFC 1950); nil if it is malformed, or has more bytes than the limit.
    static func inflate(_ bytes: Data, atMost limit: Int) -> Data? {
        var output = Data(count: min(limit, max(4096, bytes.count * 8)))
        var stream = z_stream()
        guard inflateInit_(&stream, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var input = Array(bytes)
        return input.withUnsafeMutableBufferPointer { input -> Data? in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            while true {
                let written = Int(stream.total_out)
                let status = output.withUnsafeMutableBytes { buffer -> Int32 in
                    stream.next_out = buffer.bindMemory(to: UInt8.self).baseAddress?.advanced(by: written)
                    stream.avail_out = UInt32(clamping: buffer.count - written)
                    return CZlib.inflate(&stream, Z_NO_FLUSH)
                }
                if status == Z_STREAM_END { return output.prefix(Int(stream.total_out)) }
                guard status == Z_OK || status == Z_BUF_ERROR, stream.avail_out == 0, output.count < limit else {
                    return nil
                }
                output.append(Data(count: min(output.count, limit - output.count)))
            }
        }
    }
}

/// Decompresses a zlib stream (RFC 1950) into lines of equal length.
final class LineInflater {
    /// On the heap, because zlib refuses a stream that was moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private let line: UnsafeMutableBufferPointer<UInt8>
    private var filled = 0
    /// Whether the stream has ended with the right checksum, or contains more than the wanted lines.
    private(set) var isAtEnd = false

    /// - Throws: ``JobError`` if there is not enough memory.
    init(lineBytes: Int) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        line = .allocate(capacity: lineBytes)
        let status = inflateInit_(stream, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw JobError.outOfMemory() }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        line.deallocate()
    }

    /// Sets the next bytes, which must be valid until all of them were used.
    func take(_ bytes: UnsafeRawBufferPointer) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
    }

    /// Returns the next line, which is valid until the next call; nil if more bytes are needed.
    ///
    /// - Throws: ``JobError`` `damaged`.
    func nextLine() throws -> UnsafeBufferPointer<UInt8>? {
        if filled == line.count { filled = 0 }
        while filled < line.count {
            guard stream.pointee.avail_in > 0 || filled > 0 else { return nil }
            stream.pointee.next_out = line.baseAddress?.advanced(by: filled)
            stream.pointee.avail_out = UInt32(clamping: line.count - filled)
            let status = inflate(stream, Z_NO_FLUSH)
            filled = line.count - Int(stream.pointee.avail_out)
            if status == Z_STREAM_END {
                isAtEnd = true
                if filled < line.count { throw PNGColor.damaged }
                break
            }
            guard status == Z_OK || status == Z_BUF_ERROR else { throw PNGColor.damaged }
            if filled < line.count, stream.pointee.avail_in == 0 { return nil }
        }
        return UnsafeBufferPointer(line)
    }

    /// Reads the data after the last line: the checksum, or further bytes, which decoders ignore.
    ///
    /// - Throws: ``JobError`` `damaged` if the checksum is wrong.
    func finish() throws {
        guard !isAtEnd else { return }
        var byte: UInt8 = 0
        let status = withUnsafeMutablePointer(to: &byte) { byte -> Int32 in
            stream.pointee.next_out = byte
            stream.pointee.avail_out = 1
            return inflate(stream, Z_NO_FLUSH)
        }
        if status == Z_STREAM_END || stream.pointee.avail_out == 0 {
            isAtEnd = true
        } else if status != Z_OK && status != Z_BUF_ERROR {
            throw PNGColor.damaged
        }
    }
}
