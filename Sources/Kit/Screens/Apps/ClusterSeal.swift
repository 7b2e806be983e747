package import Cluster
package import Crypto
package import Foundation
package import Storage

/// Seals secrets that servers share, with AES-256-GCM (NIST SP 800-38D) under a key that all of them have
/// and the store has not. The name of a secret is authenticated with it.
package struct ClusterSeal: Sendable {
    /// The servers of a store have different keys.
    package struct WrongKey: Error, CustomStringConvertible {
        /// One sentence for operators.
        package let description =
            "The key in store.key_file is not the one that has sealed the secrets of the shared store."

        package init() {}
    }

    /// The table that says which key it is.
    package static let migrations = [
        PostgresMigration(
            "secrets/001 key",
            sql: """
                CREATE TABLE sealing_key (
                    id int8 PRIMARY KEY CHECK (id = 1),
                    fingerprint bytea NOT NULL            -- tells whether a key is the right one, not what it is
                );
                """
        )
    ]

    private let key: SymmetricKey

    package init(key: SymmetricKey) { self.key = key }

    /// Returns a sealed secret: nonce, ciphertext, tag.
    ///
    /// - Throws: Errors of the cipher.
    package func seal(_ secret: Data, name: String) throws -> Data {
        let box = try AES.GCM.seal(secret, using: key, authenticating: Data(name.utf8))
        return box.nonce + box.ciphertext + box.tag
    }

    /// Returns a secret that was sealed under this name.
    ///
    /// - Throws: `StorageError.secretNotAuthentic`.
    package func open(_ sealed: Data, name: String) throws -> Data {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let secret = try? AES.GCM.open(box, using: key, authenticating: Data(name.utf8))
        else { throw StorageError.secretNotAuthentic(name: name) }
        return secret
    }

    /// Checks that all servers have the same key; the first one records which it is.
    ///
    /// - Throws: ``WrongKey``, `ClusterError`.
    package func check(_ database: PostgresDatabase) async throws {
        try await database.write(locks: ["sealing key"]) { try check($0) }
    }

    /// Checks the same in a transaction, while no server runs.
    ///
    /// - Throws: ``WrongKey``, `ClusterError`.
    package func check(_ transaction: SQLTransaction) throws {
        let fingerprint = SealingKey.fingerprint(of: key)
        try transaction.execute(
            "INSERT INTO sealing_key (id, fingerprint) VALUES (1, $1) ON CONFLICT DO NOTHING",
            [fingerprint]
        )
        let recorded = try transaction.rows("SELECT fingerprint FROM sealing_key").map {
            try $0.value("fingerprint") as Data
        }
        guard recorded == [fingerprint] else { throw WrongKey() }
    }

    /// Returns whether the store has recorded this key, or none. Changes nothing.
    ///
    /// - Throws: `ClusterError`.
    package func isRecorded(in database: PostgresDatabase) async throws -> Bool {
        try await database.read(isRecorded(in:))
    }

    /// Returns the same within a transaction.
    ///
    /// - Throws: `ClusterError`.
    @Sendable package func isRecorded(in transaction: SQLTransaction) throws -> Bool {
        let recorded = try transaction.rows("SELECT fingerprint FROM sealing_key")
        let own = SealingKey.fingerprint(of: key)
        return try recorded.map { try $0.value("fingerprint") as Data }.allSatisfy { $0 == own }
    }

    /// The secrets of users of all servers, in rows of their own files.
    package var userSecrets: UserSecrets {
        UserSecrets(seal: { try seal($0, name: $1) }, open: { try open($0, name: $1) })
    }
}

/// The store that servers share. Apps know nothing of it.
package struct ClusterAccess: Sendable {
    /// The journal of users' rows, and the files that they name.
    package let database: PostgresDatabase
    /// The messages between servers.
    package let changes: ClusterMessages
    /// Seals secrets that servers share; nil without a key.
    package let seal: ClusterSeal?

    package init(database: PostgresDatabase, changes: ClusterMessages, seal: ClusterSeal? = nil) {
        (self.database, self.changes, self.seal) = (database, changes, seal)
    }
}
