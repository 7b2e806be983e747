import Database
import Foundation
import GRDB

/// An account as it is stored.
struct NoteAccount: Sendable, Equatable {
    let id: Int64
    let name: String
    let password: PasswordHash
}

extension NoteStore {
    /// Returns the account of a name; nil if there is none.
    func account(_ name: UserName) throws -> NoteAccount? {
        try database.read { db in
            try Row.fetchOne(try db.cachedStatement(sql: Self.selectAccount), arguments: [name.key]).map { row in
                NoteAccount(
                    id: row["id"],
                    name: row["name"],
                    password: PasswordHash(
                        salt: row["salt"],
                        cost: .init(
                            rounds: row["rounds"],
                            blockSize: row["block_size"],
                            parallelism: row["parallelism"]
                        ),
                        digest: row["digest"]
                    )
                )
            }
        }
    }

    static let selectAccount = "SELECT * FROM notes_account WHERE name_key = ?"

    /// Inserts an account.
    ///
    /// - Returns: nil if the name is taken.
    func register(_ name: UserName, _ password: PasswordHash, now: Date) async throws -> NoteAccount? {
        try await database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO notes_account (name_key, name, salt, rounds, block_size, parallelism, digest, created)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (name_key) DO NOTHING
                    """,
                arguments: [
                    name.key, name.shown, password.salt, password.cost.rounds, password.cost.blockSize,
                    password.cost.parallelism, password.digest,
                    now.millisecondsSince1970,
                ]
            )
            return db.changesCount == 0
                ? nil : NoteAccount(id: db.lastInsertedRowID, name: name.shown, password: password)
        }
    }

    /// Replaces the hash of a password, unless the password was changed meanwhile.
    func replace(_ old: PasswordHash, by new: PasswordHash, of account: Int64) async throws {
        try await database.write { db in
            try db.execute(
                sql: """
                    UPDATE notes_account SET salt = ?, rounds = ?, block_size = ?, parallelism = ?, digest = ?
                    WHERE id = ? AND digest = ?
                    """,
                arguments: [
                    new.salt, new.cost.rounds, new.cost.blockSize, new.cost.parallelism, new.digest, account,
                    old.digest,
                ]
            )
        }
    }
}
