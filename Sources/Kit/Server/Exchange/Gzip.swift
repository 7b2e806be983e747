import CZlib
package import Foundation

/// gzip (RFC 1952) by system zlib, in one step: responses are compressed once, when they are rendered.
package enum Gzip {
    /// zlib could not do it; the text is zlib's own.
    struct Failure: Error {
        /// zlib's return code.
        let code: Int32
    }

    /// Compresses bytes. Equal bytes give equal results: the header holds no time.
    ///
    /// - Throws: `Failure`.
    package static func compress(_ data: Data, level: Int32 = 6) throws -> Data {
        var stream = z_stream()
        // 15 window bits, plus 16 for a gzip wrapper.
        var code = deflateInit2_(
            &stream,
            level,
            Z_DEFLATED,
            15 + 16,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        guard code == Z_OK else { throw Failure(code: code) }
        defer { deflateEnd(&stream) }
        var output = Data(count: Int(deflateBound(&stream, UInt(data.count))))
        let written = data.withUnsafeBytes { source in
            output.withUnsafeMutableBytes { target in
                stream.next_in = UnsafeMutablePointer(mutating: source.bindMemory(to: UInt8.self).baseAddress)
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.bindMemory(to: UInt8.self).baseAddress
                stream.avail_out = UInt32(target.count)
                code = deflate(&stream, Z_FINISH)
                return Int(stream.total_out)
            }
        }
        guard code == Z_STREAM_END else { throw Failure(code: code) }
        return output.prefix(written)
    }
}
