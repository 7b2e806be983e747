package import Foundation
package import GRDB
import Logging

/// Stores bodies above ``inlineLimit`` as files: they are written under an unfinished name, fsynced, get their name as
/// a second one, and only then are named by a row. With its commit the unfinished name is removed.
///
/// A blob belongs to one row of one table, which refers to `blob(id)` and has two triggers that delete the blob with
/// the row, or when the row takes another (see `stored_response`), or passes to another row in the same transaction.
/// The file is removed after the transaction that deleted the blob has committed (`BlobRemoval`). After a crash at any
/// moment the file of each row exists, and the next start removes files with an unfinished name and no row. A finished
/// file without either is that of a row that was lost: no start removes it; it is reported.
package struct BlobStore: Sendable {
    /// Larger bodies are stored as files: from about this size, SQLite is slower than the file system.
    package static let inlineLimit = 100_000

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
    static let checksumMigrations = [
        SchemaMigration(
            "storage/012 checksums of blobs",
            sql: "ALTER TABLE blob ADD COLUMN checksums BLOB; -- CRC-32 of each 256 KiB; NULL: stored by an older build"
        )
    ]

    let folder: String
    let removal: BlobRemoval
    let checks = BlobChecks()

    init(folder: String, logger: Logger) {
        self.folder = folder
        removal = BlobRemoval(folder: folder, logger: logger)
    }

    /// Creates a writer. The blob appears under its name only when ``BlobWriter/finish(expectedLength:)`` has returned.
    ///
    /// - Parameter id: that of the same bytes on another server; a new one by default.
    /// - Throws: ``StorageError``.
    package func writer(_ id: BlobID = .random()) throws -> BlobWriter {
        try BlobWriter(store: self, id: id)
    }

    /// Writes a blob of known bytes. Blocks until they are on the disk.
    ///
    /// - Throws: ``StorageError``.
    package func write(_ bytes: Data) throws -> Blob {
        let writer = try writer()
        try writer.append(bytes)
        return try writer.finish(expectedLength: bytes.count)
    }

    /// Inserts the row of a finished blob, in the transaction that writes the row that it belongs to. Does nothing if
    /// the blob has a row.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` if its file is missing or truncated; errors of the database.
    package func insert(_ blob: Blob, in db: Database) throws {
        _ = try reader(blob)
        try db.cachedStatement(sql: Self.insertRow)
            .execute(arguments: [blob.id, blob.length, blob.claim?.checksums.data])
        if let claim = blob.claim { removal.attempt(claim) }
    }

    /// Discards a finished blob that has no row, because the transaction that was to write it has failed: its file is
    /// removed now, not only with the last reference. Does nothing to one that a row names or may name.
    package func discard(_ blob: Blob) {
        blob.claim?.discard()
    }

    /// Opens a blob. It can be read to its end even if it is deleted meanwhile.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` if the file is missing or has another length than its row says,
    ///   or if a changed byte was met in it.
    package func reader(_ blob: Blob) throws -> BlobReader {
        let file: OpenFile
        do {
            file = try OpenFile(path(blob.id), O_RDONLY)
        } catch StorageError.inputOutput(_, _, ENOENT) {
            throw StorageError.blobUnavailable(blob.id)
        }
        guard try file.length() == blob.length else { throw StorageError.blobUnavailable(blob.id) }
        return BlobReader(blob: blob, file: file, checksums: try checks.checksums(of: blob), checks: checks)
    }

    private static let insertRow =
        "INSERT INTO blob (id, length, checksums) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"
    static let selectChecksums = "SELECT checksums FROM blob WHERE id = ?"

    func path(_ id: BlobID) -> String { "\(folder)/\(id.fileName)" }

    func unfinishedPath(_ id: BlobID) -> String { "\(folder)/\(id.unfinishedName)" }

    /// Returns the names of the blobs' files, unfinished ones included, and of no other files in the folder.
    package func fileNames() throws -> [String] {
        try OpenFile.names(in: folder).filter { BlobID(fileName: $0) != nil || BlobID(unfinishedName: $0) != nil }
    }

    /// Removes the unfinished files of a killed process: files that were being written, and finished files that no
    /// committed row names. Must be called before the first writer exists.
    ///
    /// - Parameters:
    ///   - db: The database, with everything that was committed.
    ///   - hasLog: Whether the database was found with its log, so that it has every row that the killed process has
    ///     committed. Without it the finished files stay, because their rows may be lost.
    /// - Throws: ``StorageError``; errors of the database.
    func removeUnfinishedFiles(_ db: Database, hasLog: Bool) throws {
        let files = try BlobFiles(in: folder)
        var hasKept = false
        for id in files.unfinished {
            if files.isUnsettled(id), try !isNamed(id, in: db) {
                if hasLog { try remove(path(id)) } else { hasKept = true }
            }
            try remove(unfinishedPath(id))
        }
        // The next start has a log.
        if hasKept { try OpenFile.synchronizeDirectory(folder) }
    }

    private func isNamed(_ id: BlobID, in db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM blob WHERE id = ?)"), arguments: [id])
            ?? false
    }

    private func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw StorageError.system(errno, path: path, operation: "unlink")
        }
    }
}
