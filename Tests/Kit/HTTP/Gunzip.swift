import CZlib
package import Foundation

/// Bytes are not a whole gzip stream (RFC 1952).
package struct NotGzip: Error {}

/// Decompresses a whole gzip stream (RFC 1952) with the zlib of the system.
///
/// - Throws: ``NotGzip`` if the bytes are none.
package func gunzipped(_ data: Data) throws -> Data {
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        throw NotGzip()
    }
    defer { inflateEnd(&stream) }
    var input = Array(data)
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    var code = Z_OK
    input.withUnsafeMutableBufferPointer { source in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        while code == Z_OK {
            let count = chunk.withUnsafeMutableBufferPointer { target in
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                code = inflate(&stream, Z_NO_FLUSH)
                return target.count - Int(stream.avail_out)
            }
            output += chunk.prefix(count)
        }
    }
    guard code == Z_STREAM_END, stream.avail_in == 0 else { throw NotGzip() }
    return Data(output)
}
