public import Foundation
public import GRDB

/// Bodies above ``inlineLimit`` as files: written beside, fsynced, renamed, and only then made known to the database.
///
/// A blob belongs to one row of one table, which refers to `blob(id)` and has two triggers that delete the blob with the row, or when the row takes
/// another (see `stored_response`). The file goes after the transaction that deleted the blob has committed. Whatever the moment of a crash, a row's file
/// is there; a file without a row may remain, and the next start removes it.
public struct BlobStore: Sendable {
    /// Bodies with more bytes than this are better files: about where SQLite gets slower than the file system.
    public static let inlineLimit = 100_000

    static let migrations = [
        SchemaMigration(
            "storage/001 blobs",
            sql: """
                CREATE TABLE blob (
                    id INTEGER PRIMARY KEY,
                    length INTEGER NOT NULL
                ) STRICT;
                """
        )
    ]

    /// While a file has this ending, it is being written.
    static let unfinishedSuffix = ".part"

    let folder: String

    /// Begins a blob. It appears under its name only when ``BlobWriter/finish(expectedLength:)`` has returned.
    public func writer() throws -> BlobWriter {
        try BlobWriter(store: self, id: .random())
    }

    /// Writes a blob of known bytes. Blocks until they are on the disk.
    public func write(_ bytes: Data) throws -> Blob {
        let writer = try writer()
        try writer.append(bytes)
        return try writer.finish(expectedLength: bytes.count)
    }

    /// Makes a finished blob known, in the transaction that writes the row that it belongs to. A blob already known is left as it is.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` when its file is not there in full.
    public func insert(_ blob: Blob, in db: Database) throws {
        _ = try reader(blob)
        try db.cachedStatement(sql: "INSERT INTO blob (id, length) VALUES (?, ?) ON CONFLICT (id) DO NOTHING")
            .execute(arguments: [blob.id, blob.length])
    }

    /// Opens a blob. What was opened can be read to its end, even when the blob is deleted meanwhile.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` when the file is missing or of another length than it should be: its row holds nothing of use any more.
    public func reader(_ blob: Blob) throws -> BlobReader {
        let file: OpenFile
        do {
            file = try OpenFile(path(blob.id), O_RDONLY)
        } catch StorageError.inputOutput(_, _, ENOENT) {
            throw StorageError.blobUnavailable(blob.id)
        }
        guard try file.length() == blob.length else { throw StorageError.blobUnavailable(blob.id) }
        return BlobReader(blob: blob, file: file)
    }

    func path(_ id: BlobID) -> String { "\(folder)/\(id.fileName)" }

    func remove(_ id: BlobID) throws {
        try removeFile(path(id))
    }

    /// Removes what a crash has left: unfinished files, and files whose row was never written or is deleted. Only before the first writer exists.
    func removeUnknownFiles(_ database: any DatabaseReader) throws {
        _ = try OpenFile(folder, O_RDONLY | O_DIRECTORY)  // For a typed error: Foundation's is none of ours.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let unknown = try database.read { db in
            let isKnown = try db.makeStatement(sql: "SELECT 1 FROM blob WHERE id = ?")
            return try names.filter { name in
                guard let id = BlobID(fileName: name) else { return name.hasSuffix(Self.unfinishedSuffix) }
                return try Int.fetchOne(isKnown, arguments: [id]) == nil
            }
        }
        for name in unknown { try removeFile("\(folder)/\(name)") }
    }

    private func removeFile(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageError.system(errno, path: path, operation: "unlink") }
    }
}
