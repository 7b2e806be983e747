package import Database
import Foundation
package import Journal
import SharedStore

// Files that belong to rows: blobs in the server's own database, parts of 1 MiB in the shared store.
extension UserCopy {
    /// Copies a file to the shared store, for a row that is inserted in the same transaction.
    ///
    /// - Returns: Its identifier there.
    /// - Throws: `StorageError.blobUnavailable` if it is lost; `SharedStoreError`.
    package func insertContent(_ blob: Blob, in contents: SharedContents) throws -> String {
        let (file, id) = (try blobs.reader(blob), blob.id.description)
        let insertContent = "INSERT INTO \(contents.table) (id, length, unused) VALUES ($1, $2, NULL)"
        try transaction.execute(insertContent, [id, blob.length])
        let insertPart = "INSERT INTO \(contents.table)_part (content, number, bytes) VALUES ($1, $2, $3)"
        for (number, range) in Self.parts(of: blob.length) {
            try transaction.execute(insertPart, [id, number, try file.read(range)])
        }
        return id
    }

    /// Copies a file to the server's own database, for a row that is inserted in the same transaction.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`.
    package func insertBlob(_ content: String, length: Int, from contents: SharedContents) throws -> Blob {
        let writer = try blobs.writer()
        for (number, _) in Self.parts(of: length) { try writer.append(try part(number, of: content, contents)) }
        let blob = try writer.finish(expectedLength: length)
        try blobs.insert(blob, in: db)
        return blob
    }

    /// Returns whether the bytes are the same in both.
    ///
    /// - Throws: `StorageError.blobUnavailable` if the file is lost; `SharedStoreError`.
    package func isEqual(_ blob: Blob, _ content: String, in contents: SharedContents) throws -> Bool {
        let file = try blobs.reader(blob)
        return try Self.parts(of: blob.length).allSatisfy { number, range in
            try file.read(range) == part(number, of: content, contents)
        }
    }

    /// The numbers and ranges of the parts. An empty file has one.
    private static func parts(of length: Int) -> [(number: Int, range: Range<Int>)] {
        stride(from: 0, to: max(1, length), by: SharedContents.partBytes).enumerated().map { number, offset in
            (number, offset..<min(offset + SharedContents.partBytes, length))
        }
    }

    private func part(_ number: Int, of content: String, _ contents: SharedContents) throws -> Data {
        let sql = "SELECT bytes FROM \(contents.table)_part WHERE content = $1 AND number = $2"
        return try transaction.rows(sql, [content, number]).first?.value("bytes") ?? Data()
    }
}
