import CZlib
import HTTPTypes

/// Undoes content codings (RFC 9110 section 8.4.1).
enum ContentCoding {
    private static let gzip: Set = ["gzip", "x-gzip", "deflate"]

    /// Returns a body without its content coding.
    ///
    /// - Parameters:
    ///   - limit: Most bytes of the result.
    ///   - isStart: Whether the body may be cut off, and the result as well.
    /// - Returns: nil if the coding is unknown, the body malformed or the result longer.
    static func decoded(_ body: [UInt8], _ fields: HTTPFields, atMost limit: Int, isStart: Bool = false) -> [UInt8]? {
        let codings = fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }.map {
            String($0).trimmed.lowercased()
        }.filter { $0 != "identity" && !$0.isEmpty }
        var bytes = body
        for coding in codings.reversed() {
            guard gzip.contains(coding), let decoded = inflated(bytes, atMost: limit, isStart: isStart) else {
                return nil
            }
            bytes = decoded
        }
        return bytes
    }

    private static func inflated(_ body: [UInt8], atMost limit: Int, isStart: Bool) -> [UInt8]? {
        var stream = z_stream()
        // 15 window bits, plus 32 for gzip or zlib, as the header says.
        guard inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(&stream) }
        var (input, output) = (body, [UInt8]())
        var part = [UInt8](repeating: 0, count: 1 << 16)
        return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            while true {
                let (code, count) = part.withUnsafeMutableBufferPointer { part -> (Int32, Int) in
                    stream.next_out = part.baseAddress
                    stream.avail_out = UInt32(part.count)
                    let code = inflate(&stream, Z_NO_FLUSH)
                    return (code, part.count - Int(stream.avail_out))
                }
                output += part.prefix(count)
                if output.count > limit { return isStart ? Array(output.prefix(limit)) : nil }
                switch code {
                case Z_OK: continue
                // gzip may have several members.
                case Z_STREAM_END where stream.avail_in > 0 && inflateReset(&stream) == Z_OK: continue
                case Z_STREAM_END: return output
                default: return isStart ? output : nil
                }
            }
        }
    }
}
