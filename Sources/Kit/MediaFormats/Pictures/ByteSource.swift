/// Random access to bytes, so that the header of a large file is read without loading the file.
package protocol ByteSource {
    /// The number of bytes.
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
