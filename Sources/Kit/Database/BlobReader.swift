public import Foundation

/// An open blob, which is read in parts of any size and order.
public struct BlobReader: Sendable {
    /// The blob that is read.
    public let blob: Blob
    private let file: OpenFile

    init(blob: Blob, file: OpenFile) {
        self.blob = blob
        self.file = file
    }

    /// Reads the bytes at these positions. Blocks until the disk has responded.
    ///
    /// - Throws: ``StorageError/rangeOutsideBlob(_:requested:length:)``; ``StorageError/blobUnavailable(_:)`` if the
    ///   file was truncated meanwhile; other ``StorageError``s if it cannot be read.
    public func read(_ range: Range<Int>) throws -> Data {
        guard range.lowerBound >= 0, range.upperBound <= blob.length else {
            throw StorageError.rangeOutsideBlob(blob.id, requested: range, length: blob.length)
        }
        let bytes = try file.read(at: range.lowerBound, count: range.count)
        guard bytes.count == range.count else { throw StorageError.blobUnavailable(blob.id) }
        return bytes
    }

    /// Reads all bytes, of blobs that are known to fit into memory.
    ///
    /// - Throws: ``StorageError``.
    public func readAll() throws -> Data {
        try read(0..<blob.length)
    }
}
