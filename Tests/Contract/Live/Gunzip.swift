import CZlib
import Foundation

/// gzip (RFC 1952), read by system zlib.
enum Gunzip {
    /// The content; nil where the bytes are not a whole gzip stream.
    static func decompress(_ bytes: Data) -> Data? {
        var stream = z_stream()
        guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(&stream) }
        var input = [UInt8](bytes)
        var output = [UInt8](repeating: 0, count: 8 << 20)
        let (code, count) = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                return (inflate(&stream, Z_FINISH), Int(stream.total_out))
            }
        }
        return code == Z_STREAM_END ? Data(output.prefix(count)) : nil
    }
}
