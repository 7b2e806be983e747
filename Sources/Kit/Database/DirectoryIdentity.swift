import Foundation
import GRDB

/// What database and blobs of one data directory have in common, and those of no other: 128 random bits.
///
/// The database keeps it in a row, the blobs in a file among them. The key belongs to them by its fingerprint
/// (``SealingKey``).
struct DirectoryIdentity: Sendable, Equatable, CustomStringConvertible {
    /// 32 hexadecimal digits.
    let description: String

    init() {
        description = UUID().uuidString.replacing("-", with: "").lowercased()
    }

    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.allSatisfy(\.isHexDigit) else { return nil }
        description = String(text)
    }

    static let migrations = [
        SchemaMigration(
            "storage/008 identity",
            sql: """
                CREATE TABLE data_directory (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    identity TEXT NOT NULL          -- the same as in blobs/.identity
                ) STRICT;

                PRAGMA application_id = \(applicationID);
                """
        )
    ]

    /// `Lard`, which file(1) and others find in the header of the database.
    static let applicationID = 0x4C61_7264

    /// Path of the file in the folder of the blobs.
    static func path(in folder: String) -> String { folder + "/.identity" }

    /// The identity of the blobs in this folder; nil where they have none yet.
    ///
    /// - Throws: ``StorageError/malformedIdentity(path:)`` and others.
    static func read(in folder: String) throws -> DirectoryIdentity? {
        let path = path(in: folder)
        let bytes: Data
        do {
            bytes = try OpenFile(path, O_RDONLY).read(at: 0, count: 64)
        } catch StorageError.inputOutput(_, _, ENOENT) {
            return nil
        }
        guard let identity = DirectoryIdentity(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines))
        else {
            throw StorageError.malformedIdentity(path: path)
        }
        return identity
    }

    /// The identity of this database; nil where it has none yet.
    static func read(_ db: Database) throws -> DirectoryIdentity? {
        try String.fetchOne(db, sql: "SELECT identity FROM data_directory").flatMap { DirectoryIdentity($0) }
    }

    /// Gives database and blobs one identity, where either has none yet; brings it to the disk.
    static func establish(_ found: DirectoryCheck, _ pool: DatabasePool, folder: String) throws {
        let identity = found.databaseIdentity ?? found.blobsIdentity ?? DirectoryIdentity()
        if found.databaseIdentity == nil {
            try pool.write { db in
                try db.execute(
                    sql: "INSERT INTO data_directory (one, identity) VALUES (1, ?)",
                    arguments: [identity.description]
                )
            }
        }
        if found.blobsIdentity == nil { try OpenFile.create(path(in: folder), Data("\(identity)\n".utf8)) }
    }
}
