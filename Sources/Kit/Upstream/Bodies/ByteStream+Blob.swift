public import Concurrency
public import Database
import NIOCore

extension ByteStream {
    /// Most bytes that are read of a blob at a time: those of a block that has a checksum.
    static let blobPartBytes = 256 << 10

    /// Streams a range of a stored blob, in parts of at most 256 KiB that are read as they are taken.
    public init(_ reader: BlobReader, range: Range<Int>) {
        self.init {
            var rest = range
            return {
                guard !rest.isEmpty else { return nil }
                let end = (rest.lowerBound / Self.blobPartBytes + 1) * Self.blobPartBytes
                let next = rest.clamped(to: rest.lowerBound..<end)
                rest = next.upperBound..<rest.upperBound
                return ByteBuffer(bytes: try reader.read(next))
            }
        }
    }
}
