import CZlib
import Foundation
import Synchronization

/// The checksums of a blob: the CRC-32 of each block of 256 KiB. They find bytes that a disk has changed by itself, and
/// are no protection against a program that can write to the data directory.
struct BlobChecksums: Sendable, Equatable {
    /// The bytes of a block; the last one may be shorter.
    static let blockBytes = 256 << 10

    private var blocks: [UInt32] = []
    /// The bytes of the blob.
    private(set) var length = 0

    /// The stored form: four bytes a block, the most significant first.
    var data: Data {
        Data(blocks.flatMap { block in (0..<4).map { UInt8(truncatingIfNeeded: block >> (24 - 8 * $0)) } })
    }

    init() {}

    /// Reads the stored form; nil if it is not that of a blob of this length.
    init?(_ data: Data, length: Int) {
        let bytes = [UInt8](data)
        guard bytes.count == 4 * ((length + Self.blockBytes - 1) / Self.blockBytes) else { return nil }
        blocks = stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        self.length = length
    }

    /// Computes the checksums of a whole file.
    ///
    /// - Parameter progress: Receives the number of bytes of each part that was read.
    /// - Throws: ``StorageError`` if it cannot be read.
    init(of file: OpenFile, progress: (Int) -> Void = { _ in }) throws {
        while case let part = try file.read(at: length, count: Self.blockBytes), !part.isEmpty {
            append(part)
            progress(part.count)
        }
    }

    /// Adds the bytes that follow.
    mutating func append(_ bytes: some ContiguousBytes) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let filled = length % Self.blockBytes
                if filled == 0 { blocks.append(0) }
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.blockBytes - filled))
                blocks[blocks.count - 1] = Self.sum(part, after: blocks[blocks.count - 1])
                length += part.count
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
            }
        }
    }

    /// Returns the smallest range of whole blocks that has a range in it.
    func blocks(around range: Range<Int>) -> Range<Int> {
        let start = range.lowerBound / Self.blockBytes * Self.blockBytes
        let end = (range.upperBound + Self.blockBytes - 1) / Self.blockBytes * Self.blockBytes
        return start..<min(end, length)
    }

    /// Returns whether the bytes from the beginning of a block on are those of the blob.
    func match(_ bytes: Data, at offset: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: Self.blockBytes).allSatisfy { start in
                let block = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.blockBytes, bytes.count)])
                return Self.sum(block, after: 0) == blocks[(offset + start) / Self.blockBytes]
            }
        }
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer, after sum: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_z(UInt(sum), bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
    }
}

/// The checksums of stored blobs, and the blobs of which a changed byte was met.
final class BlobChecks: Sendable {
    /// Reads the stored checksums of a blob.
    private struct LookUp: Sendable {
        let read: @Sendable (BlobID) throws -> Data?
    }

    private let lookUp = Mutex<LookUp?>(nil)
    private let changed = Mutex<Set<BlobID>>([])

    /// Reads the checksums of rows by a function from now on.
    func use(_ lookUp: @escaping @Sendable (BlobID) throws -> Data?) {
        self.lookUp.withLock { $0 = LookUp(read: lookUp) }
    }

    /// Returns the checksums of a blob; nil for one that was stored by a build without them.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` if a changed byte was met in the blob; errors of the database.
    func checksums(of blob: Blob) throws -> BlobChecksums? {
        guard !changed.withLock({ $0.contains(blob.id) }) else { throw StorageError.blobUnavailable(blob.id) }
        if let claim = blob.claim { return claim.checksums }
        let lookUp = lookUp.withLock { $0 }
        return try lookUp?.read(blob.id).flatMap { BlobChecksums($0, length: blob.length) }
    }

    /// Records that a blob has a changed byte: it is not opened any more.
    func noteChange(of id: BlobID) {
        changed.withLock { _ = $0.insert(id) }
    }
}
