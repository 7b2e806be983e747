package import Foundation
package import GRDB
import HTTP
import HTTPTypes

/// Bodies that are received in parts (RFC 9111 §3.3): each part is a row with its bytes or its file, and counts in the
/// size of its response.
extension ResponseStore {
    /// Most parts of one response; a further one is not stored.
    static let mostParts = 4096

    /// Adds a part to a stored response, unless its bytes are stored already. Parts that it contains are removed.
    ///
    /// - Parameters:
    ///   - range: Positions of the part in the whole.
    ///   - body: The bytes; a file must be finished, and belongs to the response from now on.
    /// - Throws: `StorageError/blobUnavailable(_:)` if the file of the body is missing or truncated; errors of the
    ///   database.
    package func addPart(_ range: Range<Int>, _ body: StoredBody, to id: CachedResponse.ID, in db: Database) throws {
        guard body.count == range.count else {
            throw StorageError.incompleteBody(expected: range.count, received: body.count)
        }
        let stored = try parts(of: id, in: db)
        let known = StoredParts(of: range.upperBound, stored.map(\.range))
        guard !known.missing(in: range).isEmpty, stored.count < Self.mostParts else { return }
        try db.cachedStatement(sql: Self.deleteContainedParts)
            .execute(arguments: [id, range.lowerBound, range.upperBound])
        switch body {
        case .bytes(let data):
            try db.cachedStatement(sql: Self.insertPart)
                .execute(arguments: [id, range.lowerBound, data.count, data, nil])
        case .blob(let blob):
            try database.blobs.insert(blob, in: db)
            try db.cachedStatement(sql: Self.insertPart)
                .execute(arguments: [id, range.lowerBound, blob.length, nil, blob.id])
        }
    }

    /// Returns the stored pieces that together are a range of the body of a response, in order. A response of which a
    /// file is missing or truncated is removed.
    ///
    /// - Returns: Nil for such a response, or if bytes of the range are not stored.
    package func openParts(of response: CachedResponse, _ range: Range<Int>) async throws -> [PartReader]? {
        var readers: [PartReader] = []
        var position = range.lowerBound
        while position < range.upperBound {
            guard
                let part = response.parts.filter({ $0.range.contains(position) }).max(by: {
                    $0.range.upperBound < $1.range.upperBound
                })
            else { return nil }
            let end = min(part.range.upperBound, range.upperBound)
            do {
                readers.append(try PartReader(part, position..<end, of: database, isKept: readers.count < 16))
            } catch StorageError.blobUnavailable(let blob) {
                try await database.writeFreeingRoom { db in
                    try db.execute(sql: Self.deleteByPart, arguments: [blob])
                }
                return nil
            }
            position = end
        }
        return readers
    }

    func addParts(to response: inout CachedResponse, completeLength: Int, in db: Database) throws {
        guard let id = response.id else { return }
        response.parts = try parts(of: id, in: db)
        response.head.parts = StoredParts(of: completeLength, response.parts.map(\.range))
    }

    private func parts(of id: CachedResponse.ID, in db: Database) throws -> [StoredPart] {
        try Row.fetchAll(db.cachedStatement(sql: Self.selectParts), arguments: [id])
            .map { row in
                let (first, length) = try (row.size(1), row.size(2))
                let blob = try (row.value(3) as BlobID?).map { Blob(id: $0, length: length) }
                return StoredPart(id: try row.value(0), range: first..<(first + length), blob: blob)
            }
    }

    /// Removes the parts of a response that is replaced, which keeps its row.
    func removeParts(of response: CachedResponse, in db: Database) throws {
        let head = response.head
        try db.cachedStatement(sql: Self.deletePartsByKey)
            .execute(arguments: [
                response.upstream, head.url, head.method.rawValue, response.credential.columnValue,
                FieldCoding.encode(FieldCoding.canonicalForm(of: head.varyingFields)),
            ])
    }

    static let selectParts = "SELECT id, first, length, blob_id FROM stored_part WHERE response_id = ? ORDER BY first"
    static let insertPart =
        "INSERT INTO stored_part (response_id, first, length, bytes, blob_id) VALUES (?, ?, ?, ?, ?)"
    static let deleteContainedParts =
        "DELETE FROM stored_part WHERE response_id = ? AND first >= ? AND first + length <= ?"
    static let deletePartsByKey = """
        DELETE FROM stored_part WHERE response_id IN (
            SELECT id FROM stored_response
            WHERE upstream = ? AND url = ? AND method = ? AND credential = ? AND varying = ?
        )
        """
    static let deleteByPart =
        "DELETE FROM stored_response WHERE id IN (SELECT response_id FROM stored_part WHERE blob_id = ?)"
    static let selectPartBytes = "SELECT substr(bytes, ?, ?) FROM stored_part WHERE id = ?"

    /// After the other tables.
    static let parts = [
        SchemaMigration(
            "storage/009 parts",
            sql: """
                ALTER TABLE stored_response ADD COLUMN complete_length INTEGER; -- of a body that is stored in parts

                CREATE TABLE stored_part (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    response_id INTEGER NOT NULL REFERENCES stored_response (id) ON DELETE CASCADE,
                    first INTEGER NOT NULL,         -- position in the whole
                    length INTEGER NOT NULL,
                    bytes BLOB,
                    blob_id INTEGER REFERENCES blob (id)
                ) STRICT;

                CREATE INDEX stored_part_by_response ON stored_part (response_id, first);
                CREATE UNIQUE INDEX stored_part_by_blob ON stored_part (blob_id) WHERE blob_id IS NOT NULL;

                CREATE TRIGGER stored_part_inserted AFTER INSERT ON stored_part BEGIN
                    UPDATE stored_response SET size = size + new.length WHERE id = new.response_id;
                END;

                CREATE TRIGGER stored_part_deleted AFTER DELETE ON stored_part BEGIN
                    UPDATE stored_response SET size = size - old.length WHERE id = old.response_id;
                    DELETE FROM blob WHERE id = old.blob_id;
                END;
                """
        )
    ]
}

/// Reads a piece of a body that is stored in parts.
package struct PartReader: Sendable {
    /// Positions of the piece in the whole.
    package let range: Range<Int>
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
    package func read(_ positions: Range<Int>) throws -> Data {
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
