package import Foundation
package import GRDB
import Logging

/// Identifies a blob by a random positive number: the row's id in table `blob` and, in hexadecimal, the name of its
/// file.
package struct BlobID: Hashable, Sendable, CustomStringConvertible {
    let number: Int64

    package init(number: Int64) {
        self.number = number
    }

    /// Parses the name of a file; nil if it is not the name of a blob.
    package init?(fileName: String) {
        guard fileName.utf8.count == 16, let number = Int64(fileName, radix: 16), number > 0 else { return nil }
        self.number = number
    }

    /// Creates an identity of 63 random bits: a collision is less likely than a fault of the disk. It is no secret.
    package static func random() -> BlobID {
        BlobID(number: Int64.random(in: 1...Int64.max))
    }

    var fileName: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The name of the file while it is written, and until a committed row names it.
    var unfinishedName: String { fileName + Self.unfinishedSuffix }

    private static let unfinishedSuffix = ".part"

    /// Parses the name of an unfinished file; nil if it is none.
    init?(unfinishedName: String) {
        guard unfinishedName.hasSuffix(Self.unfinishedSuffix) else { return nil }
        self.init(fileName: String(unfinishedName.dropLast(Self.unfinishedSuffix.count)))
    }

    package var description: String { fileName }
}

extension BlobID: DatabaseValueConvertible {
    /// The id of the row.
    package var databaseValue: DatabaseValue { number.databaseValue }

    /// Reads the id of a row; nil unless it is a positive integer.
    package static func fromDatabaseValue(_ value: DatabaseValue) -> BlobID? {
        Int64.fromDatabaseValue(value).flatMap { $0 > 0 ? BlobID(number: $0) : nil }
    }
}

/// A body that is stored as a file.
package struct Blob: Hashable, Sendable {
    package var id: BlobID
    /// The length in bytes.
    package var length: Int
    /// Removes the file if no row ever names it; nil for a blob that was read from a row.
    let claim: BlobClaim?

    /// Creates the description of a blob that a row names.
    package init(id: BlobID, length: Int) {
        self.init(id: id, length: length, claim: nil)
    }

    init(id: BlobID, length: Int, claim: BlobClaim?) {
        self.id = id
        self.length = length
        self.claim = claim
    }

    /// Returns whether both name the same file of the same length.
    package static func == (one: Blob, other: Blob) -> Bool {
        one.id == other.id && one.length == other.length
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(length)
    }
}

extension Sequence<UInt8> {
    /// The bytes as lowercase hexadecimal digits, two a byte.
    package var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// Stores bodies above ``inlineLimit`` as files: they are written under an unfinished name, fsynced, get their name as
/// a second one, and only then are named by a row. With its commit the unfinished name is removed.
///
/// A blob belongs to one row of one table, which refers to `blob(id)` and has two triggers (see `stored_response`).
/// They delete the blob with the row, or when the row takes another blob; a blob may pass to another row in the same
/// transaction. The file is removed after the transaction that deleted the blob has committed (`BlobRemoval`). After a
/// crash at any moment the file of each row exists, and the next start removes files with an unfinished name and no
/// row. A finished file without either is that of a row that was lost: no start removes it; it is reported.
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
    package func writer(_ id: BlobID = .random()) throws -> BlobWriter {
        try BlobWriter(store: self, id: id)
    }

    /// Writes a blob of known bytes. Blocks until they are on the disk.
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
        guard let file = try OpenFile.ifPresent(path(blob.id)), try file.length() == blob.length else {
            throw StorageError.blobUnavailable(blob.id)
        }
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
        try StorageError.check("unlink", path, except: ENOENT) { unlink(path) }
    }
}

/// An open blob, which is read in parts of any size and order.
package struct BlobReader: Sendable {
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
    package func readAll() throws -> Data {
        try read(0..<blob.length)
    }
}

/// A stored body: a small one in memory, a large one in a file.
package enum StoredBody: Sendable, Equatable {
    /// At most ``BlobStore/inlineLimit`` bytes, stored in the database.
    case bytes(Data)
    /// A file, opened by ``BlobStore/reader(_:)``.
    case blob(Blob)

    /// Length in bytes.
    package var count: Int {
        switch self {
        case .bytes(let data): data.count
        case .blob(let blob): blob.length
        }
    }
}
