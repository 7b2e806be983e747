public import Crypto
public import Foundation
public import GRDB
import Synchronization

/// Secrets such as upstream tokens, sealed with AES-256-GCM (NIST SP 800-38D) under a key that is not in the database.
///
/// The secret's name is authenticated with it: a sealed value that somebody moves to another name does not open. The
/// key lies in a file beside the database and is made with the first start. A database whose secrets need another key,
/// or whose key file is gone, is refused.
public final class SealedSecrets: Sendable {
    private struct Keys {
        /// Seals and opens.
        var current: SymmetricKey
        /// Opens only: around a change of key some transactions still see, or see already, what the other one sealed.
        var other: SymmetricKey?
    }

    private let database: LarderDatabase
    private let keys: Mutex<Keys>
    /// Held during a change of key; two at once would mix up their files.
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

    /// Opens the secrets of a database; creates the key for one that has none yet.
    ///
    /// - Throws: ``StorageError/keyMissing(path:)``, ``StorageError/wrongKey(path:)``,
    ///   ``StorageError/malformedKey(path:)`` and others.
    public init(_ database: LarderDatabase) throws {
        self.database = database
        keys = Mutex(Keys(current: try SealingKey.open(database)))
    }

    /// Seals a secret in place of the one of this name.
    public func store(_ secret: Data, name: String, in db: Database) throws {
        let sealed = try Self.seal(secret, name: name, key: keys.withLock { $0.current })
        try db.cachedStatement(sql: Self.upsert).execute(arguments: [name, sealed])
    }

    /// The secret of this name; nil when there is none.
    ///
    /// - Throws: ``StorageError/secretNotAuthentic(name:)``.
    public func secret(name: String, in db: Database) throws -> Data? {
        guard let sealed = try Data.fetchOne(db.cachedStatement(sql: Self.select), arguments: [name]) else {
            return nil
        }
        return try open(sealed, name: name)
    }

    /// Removes a secret, as a logout does.
    public func remove(name: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.delete).execute(arguments: [name])
    }

    /// The key of ``CredentialHash``, random and the same for the life of the database; made when it is first asked
    /// for. Not to be called inside a transaction: it needs one of its own.
    public func credentialHashKey() throws -> SymmetricKey {
        let name = "storage/credential hash key"
        return try database.write { db in
            if let bytes = try secret(name: name, in: db) { return SymmetricKey(data: bytes) }
            let key = SymmetricKey(size: .bits256)
            try store(key.withUnsafeBytes { Data($0) }, name: name, in: db)
            return key
        }
    }

    /// Seals all secrets anew under a new key and forgets the old one. Whenever a crash comes, the next start finds the
    /// key that fits.
    public func rotateKey() throws {
        try rotation.withLock { _ in
            let file = KeyFile(path: database.directory.keyPath)
            let nextFile = SealingKey.nextFile(of: file)
            // A next key that is there is that of a change that has failed; if its transaction is found committed after
            // a crash, the secrets are sealed with it. So it is used, and not replaced.
            let left = try nextFile.read()
            let newKey = left ?? SymmetricKey(size: .bits256)
            if left == nil { try nextFile.create(newKey) }
            keys.withLock { $0.other = newKey }
            try database.write { db in
                for row in try Row.fetchAll(db, sql: "SELECT name, sealed FROM sealed_secret") {
                    let secret = try open(row[1], name: row[0])
                    try db.execute(
                        sql: Self.upsert,
                        arguments: [row[0] as String, try Self.seal(secret, name: row[0], key: newKey)]
                    )
                }
                try SealingKey.noteFingerprint(of: newKey, in: db)
                // On the writer's queue, so the next transaction seals with the new key already.
                db.afterNextTransaction { [self] _ in keys.withLock { $0 = Keys(current: newKey, other: $0.current) } }
            }
            try nextFile.move(to: file)
        }
    }

    static let select = "SELECT sealed FROM sealed_secret WHERE name = ?"
    static let upsert =
        "INSERT INTO sealed_secret (name, sealed) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed"
    static let delete = "DELETE FROM sealed_secret WHERE name = ?"

    private static func seal(_ secret: Data, name: String, key: SymmetricKey) throws -> Data {
        let box = try AES.GCM.seal(secret, using: key, authenticating: Data(name.utf8))
        return box.nonce + box.ciphertext + box.tag
    }

    private func open(_ sealed: Data, name: String) throws -> Data {
        let keys = keys.withLock { $0 }
        let secret = [keys.current, keys.other].lazy.compactMap { key in
            key.flatMap {
                try? AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: $0, authenticating: Data(name.utf8))
            }
        }
        guard let secret = secret.first else { throw StorageError.secretNotAuthentic(name: name) }
        return secret
    }
}
