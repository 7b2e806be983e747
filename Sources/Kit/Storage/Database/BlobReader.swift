package import Foundation

/// An open blob, which is read in parts of any size and order.
package struct BlobReader: Sendable {
    /// The blob that is read.
    package let blob: Blob
    private let file: OpenFile
    private let checksums: BlobChecksums?
    private let checks: BlobChecks

    init(blob: Blob, file: OpenFile, checksums: BlobChecksums?, checks: BlobChecks) {
        (self.blob, self.file, self.checksums, self.checks) = (blob, file, checksums, checks)
    }

    /// Reads the bytes at these positions, and compares each block that they are in with its checksum. Blocks until the
    /// disk has responded.
    ///
    /// - Throws: ``StorageError/rangeOutsideBlob(_:requested:length:)``; ``StorageError/blobUnavailable(_:)`` if the
    ///   file was truncated meanwhile or has a changed byte; other ``StorageError``s if it cannot be read.
    package func read(_ range: Range<Int>) throws -> Data {
        guard range.lowerBound >= 0, range.upperBound <= blob.length else {
            throw StorageError.rangeOutsideBlob(blob.id, requested: range, length: blob.length)
        }
        let read = checksums?.blocks(around: range) ?? range
        let bytes = try file.read(at: read.lowerBound, count: read.count)
        guard bytes.count == read.count else { throw StorageError.blobUnavailable(blob.id) }
        if let checksums, !checksums.match(bytes, at: read.lowerBound) {
            checks.noteChange(of: blob.id)
            throw StorageError.blobUnavailable(blob.id)
        }
        return read == range ? bytes : Data(bytes.dropFirst(range.lowerBound - read.lowerBound).prefix(range.count))
    }

    /// Reads all bytes, of blobs that are known to fit into memory.
    ///
    /// - Throws: ``StorageError``.
    package func readAll() throws -> Data {
        try read(0..<blob.length)
    }
}
