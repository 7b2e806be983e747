import Foundation
import GRDB

/// The identity of a data directory, which its database and blobs share: 128 random bits.
///
/// The database has it in a row, the folder of the blobs in a file. The key is tied to them by its fingerprint
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

    /// `Lard`, in the header of the database.
    static let applicationID = 0x4C61_7264

    /// Returns the path of the file in the folder of the blobs.
    static func path(in folder: String) -> String { folder + "/.identity" }

    /// Reads the identity of the blobs in a folder; nil if they have none yet.
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

    /// Reads the identity of a database; nil if it has none yet.
    ///
    /// - Throws: ``StorageError/malformedIdentity(path:)``; errors of the database.
    static func read(_ db: Database, path: String) throws -> DirectoryIdentity? {
        guard let text = try String.fetchOne(db, sql: "SELECT identity FROM data_directory") else { return nil }
        guard let identity = DirectoryIdentity(text) else { throw StorageError.malformedIdentity(path: path) }
        return identity
    }

    /// Gives database and blobs one identity if either has none yet, and synchronizes it to the disk.
    ///
    /// - Throws: ``StorageError``; errors of the database.
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

extension LarderDatabase {
    /// Returns the identity of the data directory, which a copy of the directory shares.
    ///
    /// - Throws: ``StorageError``.
    package func identity() throws -> String {
        try read { try DirectoryIdentity.read($0, path: directory.databasePath)?.description } ?? ""
    }
}
