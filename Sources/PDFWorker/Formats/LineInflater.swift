import CZlib

/// Decompresses a zlib stream (RFC 1950) into lines of equal length.
final class LineInflater {
    /// zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private let line: UnsafeMutableBufferPointer<UInt8>
    private var filled = 0
    /// Whether the stream has ended, with the right checksum, or has more than the lines that are wanted.
    private(set) var isAtEnd = false

    /// Creates it.
    ///
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

    /// Takes the next bytes, which must be valid until they are used up.
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

    /// Reads what is behind the last line: the checksum, or further bytes, which decoders ignore.
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
