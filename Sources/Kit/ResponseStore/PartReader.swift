import Database
public import Foundation
import GRDB

/// Reads a piece of a body that is stored in parts.
public struct PartReader: Sendable {
    /// Positions of the piece in the whole.
    public let range: Range<Int>
    private let part: StoredPart
    private let database: LarderDatabase
    /// An open file, which can be read to its end even if the part is removed meanwhile.
    private let kept: BlobReader?

    /// Opens a piece of a part.
    ///
    /// - Parameter isKept: Whether the file stays open, of which a process has a limited number.
    /// - Throws: `StorageError/blobUnavailable(_:)`; other `StorageError`s.
    init(_ part: StoredPart, _ range: Range<Int>, of database: LarderDatabase, isKept: Bool) throws {
        self.part = part
        self.range = range
        self.database = database
        let reader = try part.blob.map { try database.blobs.reader($0) }
        kept = isKept ? reader : nil
    }

    /// Reads bytes at these positions of the whole, which must be in ``range``. Blocks until the disk has responded.
    ///
    /// - Throws: `StorageError`, also if the part was removed meanwhile.
    public func read(_ positions: Range<Int>) throws -> Data {
        let start = positions.lowerBound - part.range.lowerBound
        if let blob = part.blob {
            let reader = try kept ?? database.blobs.reader(blob)
            return try reader.read(start..<(start + positions.count))
        }
        let bytes = try database.read { db in
            try Data.fetchOne(
                db.cachedStatement(sql: ResponseStore.selectPartBytes),
                arguments: [start + 1, positions.count, part.id]
            )
        }
        guard let bytes, bytes.count == positions.count else {
            throw StorageError.incompleteBody(expected: positions.count, received: bytes?.count ?? 0)
        }
        return bytes
    }
}
