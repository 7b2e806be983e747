import Crypto
import Database
import Foundation
import SharedStore

/// Seals secrets for a store that servers share, with AES-256-GCM (NIST SP 800-38D) under a key that all of them have
/// and the store has not. The name of a secret is authenticated with it.
struct SharedSeal: Sendable {
    /// The servers of a store have different keys.
    struct WrongKey: Error, CustomStringConvertible {
        let description = "The key is not the one that has sealed the secrets of the shared store."
    }

    let key: SymmetricKey

    func seal(_ secret: Data, name: String) throws -> Data {
        let box = try AES.GCM.seal(secret, using: key, authenticating: Data(name.utf8))
        return box.nonce + box.ciphertext + box.tag
    }

    /// - Throws: `StorageError.secretNotAuthentic`.
    func open(_ sealed: Data, name: String) throws -> Data {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let secret = try? AES.GCM.open(box, using: key, authenticating: Data(name.utf8))
        else { throw StorageError.secretNotAuthentic(name: name) }
        return secret
    }

    /// Checks that all servers have the same key; the first one records which it is.
    ///
    /// - Throws: ``WrongKey``, `SharedStoreError`.
    func check(_ database: SharedDatabase) async throws {
        let fingerprint = Data(HMAC<SHA256>.authenticationCode(for: Data("larder sealing key".utf8), using: key))
        let recorded = try await database.write(turns: ["sealing key"]) { transaction in
            try transaction.execute(
                "INSERT INTO sealing_key (id, fingerprint) VALUES (1, $1) ON CONFLICT DO NOTHING",
                [fingerprint]
            )
            return try transaction.rows("SELECT fingerprint FROM sealing_key").map {
                try $0.value("fingerprint") as Data
            }
        }
        guard recorded == [fingerprint] else { throw WrongKey() }
    }

    func store(_ secret: Data, name: String, _ transaction: SQLTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO sealed_secret (name, sealed) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed
            """,
            [name, try seal(secret, name: name)]
        )
    }

    /// Replaces a secret that is there.
    ///
    /// - Returns: False if it is not.
    func replace(_ secret: Data, name: String, _ transaction: SQLTransaction) throws -> Bool {
        let sql = "UPDATE sealed_secret SET sealed = $2 WHERE name = $1"
        return try transaction.execute(sql, [name, try seal(secret, name: name)]) > 0
    }

    /// Returns a secret, which does not change before the end of the transaction.
    ///
    /// - Throws: `StorageError.secretNotAuthentic`, `SharedStoreError`.
    func secret(name: String, _ transaction: SQLTransaction) throws -> Data? {
        try transaction.rows("SELECT sealed FROM sealed_secret WHERE name = $1 FOR UPDATE", [name]).first.map {
            try open($0.value("sealed"), name: name)
        }
    }

    func remove(_ names: [String], _ transaction: SQLTransaction) throws {
        try transaction.execute("DELETE FROM sealed_secret WHERE name = ANY($1)", [names])
    }
}
