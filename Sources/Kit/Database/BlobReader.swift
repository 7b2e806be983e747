public import Foundation

/// An open blob, read in parts of any size and order.
public struct BlobReader: Sendable {
    /// What is read.
    public let blob: Blob
    private let file: OpenFile

    init(blob: Blob, file: OpenFile) {
        self.blob = blob
        self.file = file
    }

    /// The bytes at these positions. Blocks until the disk has answered.
    ///
    /// - Throws: ``StorageError/rangeOutsideBlob(_:requested:length:)``; ``StorageError/blobUnavailable(_:)`` when
    ///   somebody cut the file meanwhile.
    public func read(_ range: Range<Int>) throws -> Data {
        guard range.lowerBound >= 0, range.upperBound <= blob.length else {
            throw StorageError.rangeOutsideBlob(blob.id, requested: range, length: blob.length)
        }
        let bytes = try file.read(at: range.lowerBound, count: range.count)
        guard bytes.count == range.count else { throw StorageError.blobUnavailable(blob.id) }
        return bytes
    }

    /// All bytes. For blobs that are known to fit into memory.
    public func readAll() throws -> Data {
        try read(0..<blob.length)
    }
}
