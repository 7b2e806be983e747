import Concurrency
package import Crypto
package import Foundation
package import GRDB
import Synchronization

/// Stores secrets such as upstream tokens, sealed with AES-256-GCM (NIST SP 800-38D) under a key that is not in the
/// database.
///
/// The secret's name is authenticated with it: a sealed value that was moved to another name does not open. The key is
/// in a file beside the database and is created at the first start. A database whose secrets need another key, or whose
/// key file is gone, is refused.
package final class SealedSecrets: Sendable {
    private struct Keys {
        /// Seals and opens.
        var current: SymmetricKey
        /// Opens only: around a key rotation some transactions read secrets that the other key sealed.
        var other: SymmetricKey?
    }

    private let database: LarderDatabase
    private let keys: Mutex<Keys>
    /// Held during a key rotation: two at once would mix up their files.
    private let rotation = Mutex(())

    static let migrations = [
        SchemaMigration(
            "storage/004 secrets",
            sql: """
                CREATE TABLE sealed_secret (
                    name TEXT PRIMARY KEY,
                    sealed BLOB NOT NULL            -- nonce, ciphertext, tag
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE sealing_key (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    fingerprint BLOB NOT NULL       -- tells whether a key is the right one, not what it is
                ) STRICT;
                """
        )
    ]

    /// Opens the secrets of a database; creates the key if it has none yet.
    ///
    /// - Throws: ``StorageError/keyMissing(path:)``, ``StorageError/wrongKey(path:)``,
    ///   ``StorageError/malformedKey(path:)`` and others.
    package init(_ database: LarderDatabase) throws {
        self.database = database
        keys = Mutex(Keys(current: try SealingKey.open(database)))
    }

    /// Seals a secret; replaces the one of this name.
    ///
    /// - Throws: Errors of the database.
    package func store(_ secret: Data, name: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.upsert).execute(arguments: [name, try seal(secret, name: name)])
    }

    /// Seals a secret for the row of this name, which the caller inserts.
    ///
    /// - Throws: Errors of the cipher.
    package func seal(_ secret: Data, name: String) throws -> Data {
        try Self.seal(secret, name: name, key: keys.withLock { $0.current })
    }

    /// Returns the secret of this name; nil if there is none.
    ///
    /// - Throws: ``StorageError/secretNotAuthentic(name:)``; errors of the database.
    package func secret(name: String, in db: Database) throws -> Data? {
        guard let sealed = try Data.fetchOne(db.cachedStatement(sql: Self.select), arguments: [name]) else {
            return nil
        }
        return try open(sealed, name: name)
    }

    /// Removes a secret.
    ///
    /// - Throws: Errors of the database.
    package func remove(name: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.delete).execute(arguments: [name])
    }

    /// Returns the random key of the hashes of credentials, which stays the same for the life of the database; creates
    /// it at the first call. Must not be called inside a transaction, because it starts one.
    ///
    /// - Throws: ``StorageError``.
    package func credentialHashKey() throws -> SymmetricKey {
        let name = "storage/credential hash key"
        return try database.write { db in
            if let bytes = try secret(name: name, in: db) { return SymmetricKey(data: bytes) }
            let key = SymmetricKey(data: Randomness.bytes(32, for: "credential hash key"))
            try store(key.withUnsafeBytes { Data($0) }, name: name, in: db)
            return key
        }
    }

    /// Seals all secrets under a new key and drops the old one. After a crash at any moment the next start finds the
    /// key that fits.
    ///
    /// - Throws: ``StorageError``.
    package func rotateKey() throws {
        try rotation.withLock { _ in
            let file = KeyFile(path: database.directory.keyPath)
            let nextFile = SealingKey.nextFile(of: file)
            // An existing next key is that of a rotation that has failed; if its transaction is found committed after a
            // crash, the secrets are sealed with it. So it is used and not replaced.
            let left = try nextFile.read()
            let newKey = left ?? SymmetricKey(size: .bits256)
            if left == nil { try nextFile.create(newKey) }
            keys.withLock { $0.other = newKey }
            try database.write { db in
                for row in try Row.fetchAll(db, sql: "SELECT name, sealed FROM sealed_secret") {
                    let name: String = try row.value(0)
                    let secret = try open(row.value(1), name: name)
                    try db.execute(sql: Self.upsert, arguments: [name, try Self.seal(secret, name: name, key: newKey)])
                }
                try SealingKey.noteFingerprint(of: newKey, in: db)
                // On the writer's queue, so the next transaction already seals with the new key.
                db.afterNextTransaction { [self] _ in keys.withLock { $0 = Keys(current: newKey, other: $0.current) } }
            }
            try nextFile.move(to: file)
        }
    }

    static let select = "SELECT sealed FROM sealed_secret WHERE name = ?"
    static let upsert = """
        INSERT INTO sealed_secret (name, sealed) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed
        """
    static let delete = "DELETE FROM sealed_secret WHERE name = ?"

    private static func seal(_ secret: Data, name: String, key: SymmetricKey) throws -> Data {
        let box = try AES.GCM.seal(secret, using: key, authenticating: Data(name.utf8))
        return box.nonce + box.ciphertext + box.tag
    }

    private func open(_ sealed: Data, name: String) throws -> Data {
        let keys = keys.withLock { $0 }
        return try Self.open(sealed, name: name, [keys.current] + (keys.other.map { [$0] } ?? []))
    }

    private static func open(_ sealed: Data, name: String, _ keys: [SymmetricKey]) throws -> Data {
        let secret = keys.lazy.compactMap {
            try? AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: $0, authenticating: Data(name.utf8))
        }
        guard let secret = secret.first else { throw StorageError.secretNotAuthentic(name: name) }
        return secret
    }

    /// Checks that all secrets open with the key that fits; without one, its absence is the defect.
    ///
    /// - Throws: ``StorageError/secretNotAuthentic(name:)``; errors of the database.
    static func check(_ db: Database, fingerprint: Data?, keyPath: String) throws {
        guard let key = try? SealingKey.find(fingerprint: fingerprint, KeyFile(path: keyPath)).key else { return }
        for row in try Row.fetchAll(db, sql: "SELECT name, sealed FROM sealed_secret") {
            _ = try open(row.value(1), name: row.value(0), [key])
        }
    }
}
