public import Concurrency
public import Database
import NIOCore

extension ByteStream {
    /// Most bytes that are read of a blob at a time.
    static let blobPartBytes = 256 << 10

    /// Streams a range of a stored blob, in parts of at most 256 KiB that are read as they are taken.
    public init(_ reader: BlobReader, range: Range<Int>) {
        self.init {
            var rest = range
            return {
                guard !rest.isEmpty else { return nil }
                let next = rest.prefix(Self.blobPartBytes)
                rest = next.upperBound..<rest.upperBound
                return ByteBuffer(bytes: try reader.read(next))
            }
        }
    }
}
