import CZlib
import Foundation

/// Decompression with a limit; used for the colour profile of a PNG, the only data that the worker decompresses.
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
