public import Foundation
public import GRDB
import Logging

/// Bodies above ``inlineLimit`` as files: written beside, fsynced, renamed, and only then made known to the database.
///
/// A blob belongs to one row of one table, which refers to `blob(id)` and has two triggers that delete the blob with
/// the row, or when the row takes another (see `stored_response`). The file goes after the transaction that deleted the
/// blob has committed (``BlobRemoval``). Whatever the moment of a crash, a row's file is there. A file that was
/// finished and has no row yet may remain: nothing tells it from one whose row is missing, so no start removes it; it
/// is reported.
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
    let removal: BlobRemoval

    init(folder: String, logger: Logger) {
        self.folder = folder
        removal = BlobRemoval(folder: folder, logger: logger)
    }

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

    /// Makes a finished blob known, in the transaction that writes the row that it belongs to. A blob already known is
    /// left as it is.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` when its file is not there in full.
    public func insert(_ blob: Blob, in db: Database) throws {
        _ = try reader(blob)
        try db.cachedStatement(sql: "INSERT INTO blob (id, length) VALUES (?, ?) ON CONFLICT (id) DO NOTHING")
            .execute(arguments: [blob.id, blob.length])
        if let claim = blob.claim { removal.attempt(claim) }
    }

    /// Gives up a finished blob that has got no row, because the transaction that was to write it has failed: its file
    /// goes now, not only with the last reference. Nothing happens to one that a row names, or may name.
    public func discard(_ blob: Blob) {
        blob.claim?.giveUp()
    }

    /// Opens a blob. What was opened can be read to its end, even when the blob is deleted meanwhile.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` when the file is missing or of another length than it should be:
    ///   its row holds nothing of use any more.
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

    /// Names of the blobs' files, those being written included; nothing else that is in the folder.
    package func fileNames() throws -> [String] {
        try Self.fileNames(in: folder).filter { BlobID(fileName: $0) != nil || Self.isUnfinished($0) }
    }

    /// Removes what was being written when a process ended. Only before the first writer exists.
    func removeUnfinishedFiles() throws {
        for name in try Self.fileNames(in: folder) where Self.isUnfinished(name) {
            let path = "\(folder)/\(name)"
            guard unlink(path) == 0 || errno == ENOENT else {
                throw StorageError.system(errno, path: path, operation: "unlink")
            }
        }
    }

    private static func isUnfinished(_ name: String) -> Bool {
        name.hasSuffix(unfinishedSuffix) && BlobID(fileName: String(name.dropLast(unfinishedSuffix.count))) != nil
    }

    /// All names in a folder, with a typed error: Foundation's is none of ours.
    static func fileNames(in folder: String) throws -> [String] {
        _ = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        return try FileManager.default.contentsOfDirectory(atPath: folder)
    }
}
