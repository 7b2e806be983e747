import Concurrency
package import Crypto
package import Foundation
package import GRDB
import Synchronization

/// Stores secrets such as upstream tokens, sealed with AES-256-GCM (NIST SP 800-38D) under a key that is not in the
/// database.
///
/// The secret's name is authenticated with it, so a sealed value that was moved to another name cannot be opened. The
/// key is in a file beside the database and is created at the first start. A database is refused if its secrets need
/// another key, or if its key file is missing.
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

    /// Those of users, in a table that several servers may replicate (``UserSecrets``).
    static let userMigrations = [
        SchemaMigration(
            "storage/013 secrets of users",
            sql: """
                CREATE TABLE user_secret (
                    name TEXT NOT NULL PRIMARY KEY,
                    sealed BLOB NOT NULL
                ) STRICT, WITHOUT ROWID;
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

    /// Returns the random key of the hashes of credentials, which stays the same for the life of the database; creates
    /// it at the first call. Must not be called inside a transaction, because it starts one.
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
                for table in try Self.tables(db) {
                    for row in try Row.fetchAll(db, sql: "SELECT name, sealed FROM \(table)") {
                        let name: String = try row.value(0)
                        let sealed = try Self.seal(try open(row.value(1), name: name), name: name, key: newKey)
                        let update = "UPDATE \(table) SET sealed = ? WHERE name = ?"
                        try db.execute(sql: update, arguments: [sealed, name])
                    }
                }
                try SealingKey.noteFingerprint(of: newKey, in: db)
                // On the writer's queue, so the next transaction already seals with the new key.
                db.afterNextTransaction { [self] _ in keys.withLock { $0 = Keys(current: newKey, other: $0.current) } }
            }
            try nextFile.move(to: file)
        }
    }

    /// The tables of secrets that the key seals. Those of users in a file that follows other servers are sealed by the
    /// key that all of them have.
    private static func tables(_ db: Database) throws -> [String] {
        let follows = try db.tableExists("journal_position") && Bool.fetchOne(db, sql: selectFollowed) ?? false
        return follows ? ["sealed_secret"] : ["sealed_secret", "user_secret"]
    }

    private static let selectFollowed = "SELECT EXISTS (SELECT 1 FROM journal_position)"
    static let select = "SELECT sealed FROM sealed_secret WHERE name = ?"
    static let upsert = """
        INSERT INTO sealed_secret (name, sealed) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed
        """

    private static func seal(_ secret: Data, name: String, key: SymmetricKey) throws -> Data {
        let box = try AES.GCM.seal(secret, using: key, authenticating: Data(name.utf8))
        return box.nonce + box.ciphertext + box.tag
    }

    /// Returns a secret that was sealed under this name.
    ///
    /// - Throws: ``StorageError/secretNotAuthentic(name:)``.
    package func open(_ sealed: Data, name: String) throws -> Data {
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
        for table in try tables(db) {
            for row in try Row.fetchAll(db, sql: "SELECT name, sealed FROM \(table)") {
                _ = try open(row.value(1), name: row.value(0), [key])
            }
        }
    }
}

/// The secrets of users, in rows that several servers may replicate. A server by itself seals them as its own secrets;
/// of several, all have the key.
package struct UserSecrets: Sendable {
    package static let table = "user_secret"

    /// Seals a secret under its name, and opens one.
    package typealias Cipher = @Sendable (_ bytes: Data, _ name: String) throws -> Data

    private let seal: Cipher
    private let open: Cipher

    package init(seal: @escaping Cipher, open: @escaping Cipher) {
        (self.seal, self.open) = (seal, open)
    }

    /// Those of a server by itself.
    package init(_ secrets: SealedSecrets) {
        self.init(seal: { try secrets.seal($0, name: $1) }, open: { try secrets.open($0, name: $1) })
    }

    /// Stores a secret; replaces the one of this name.
    ///
    /// - Throws: Errors of the cipher and of the database.
    package func store(_ secret: Data, name: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.upsert).execute(arguments: [name, try seal(secret, name)])
    }

    /// Returns the secret of this name; nil if there is none.
    ///
    /// - Throws: ``StorageError/secretNotAuthentic(name:)``; errors of the database.
    package func secret(name: String, in db: Database) throws -> Data? {
        let sql = "SELECT sealed FROM user_secret WHERE name = ?"
        return try Data.fetchOne(db.cachedStatement(sql: sql), arguments: [name]).map { try open($0, name) }
    }

    package func remove(name: String, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM user_secret WHERE name = ?").execute(arguments: [name])
    }

    /// Whether a file has some.
    package static func areIn(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM user_secret)") ?? false
    }

    /// Seals all secrets of a file by another cipher.
    ///
    /// - Throws: ``StorageError/secretNotAuthentic(name:)``; errors of the database.
    package func reseal(by other: UserSecrets, in db: Database) throws {
        for row in try Row.fetchAll(db, sql: "SELECT name, sealed FROM user_secret") {
            try other.store(try open(row.value(1), row.value(0)), name: row.value(0), in: db)
        }
    }

    /// Returns a row of the table with its secret sealed by another cipher.
    ///
    /// - Throws: ``StorageError/secretNotAuthentic(name:)``.
    package func resealed(_ row: Row, by other: UserSecrets) throws -> [DatabaseValue] {
        let name: String = try row.value("name")
        return [name.databaseValue, try other.seal(try open(row.value("sealed"), name), name).databaseValue]
    }

    private static let upsert = """
        INSERT INTO user_secret (name, sealed) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed
        """
}
