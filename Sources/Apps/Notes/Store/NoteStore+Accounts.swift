import Database
import Foundation
import Freshness
import GRDB

/// An account as it is stored.
struct NoteAccount: Sendable, Equatable {
    let id: Int64
    let name: String
    let password: PasswordHash
}

extension NoteAccount: FetchableRecord {
    /// Reads a row of table `notes_account`.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            name: row.value("name"),
            password: PasswordHash(
                salt: row.value("salt"),
                cost: .init(
                    rounds: row.value("rounds"),
                    blockSize: row.value("block_size"),
                    parallelism: row.value("parallelism")
                ),
                digest: row.value("digest")
            )
        )
    }
}

extension NoteStore {
    /// The account does not exist any more, or has another password by now.
    struct AccountChanged: Error {}

    /// Returns the account of a name; nil if there is none. Of accounts that earlier rules kept apart, it is the one
    /// with this spelling.
    func account(_ name: UserName) throws -> NoteAccount? {
        try database.read { db in
            let rows = try Row.fetchAll(db.cachedStatement(sql: Self.selectAccounts), arguments: [name.key])
            let row = rows.count == 1 ? rows.first : try rows.first { try $0.value("name_key") == name.spelling }
            return try row.map(NoteAccount.init(row:))
        }
    }

    /// Returns whether an account has a name that is equal to this one, whatever earlier rules kept apart.
    func isTaken(_ name: UserName) throws -> Bool {
        try database.read { db in
            try Row.fetchOne(try db.cachedStatement(sql: Self.selectAccounts), arguments: [name.key]) != nil
        }
    }

    /// Returns an account; nil if there is none of that id.
    func account(_ id: Int64) throws -> NoteAccount? {
        try database.read { db in
            try NoteAccount.fetchOne(db.cachedStatement(sql: Self.selectAccount), arguments: [id])
        }
    }

    static let selectAccounts = "SELECT * FROM notes_account WHERE name_folded = ?"
    static let selectAccount = "SELECT * FROM notes_account WHERE id = ?"

    /// Inserts an account.
    ///
    /// - Returns: nil if the name is taken.
    func register(_ name: UserName, _ password: PasswordHash, now: Date) async throws -> NoteAccount? {
        try await database.write { try Self.register(name, password, now: now, $0) }
    }

    /// Inserts an account, in the transaction that stores what belongs to it.
    ///
    /// - Returns: nil if the name is taken.
    static func register(_ name: UserName, _ password: PasswordHash, now: Date, _ db: Database) throws -> NoteAccount? {
        try db.execute(
            sql: insertAccount,
            arguments: [
                "key": name.spelling, "folded": name.key, "name": name.shown, "salt": password.salt,
                "rounds": password.cost.rounds, "block_size": password.cost.blockSize,
                "parallelism": password.cost.parallelism, "digest": password.digest,
                "now": now.millisecondsSince1970,
            ]
        )
        return db.changesCount == 0
            ? nil : NoteAccount(id: db.lastInsertedRowID, name: name.shown, password: password)
    }

    private static let insertAccount = """
        INSERT INTO notes_account
            (name_key, name_folded, name, salt, rounds, block_size, parallelism, digest, created)
        SELECT :key, :folded, :name, :salt, :rounds, :block_size, :parallelism, :digest, :now
        WHERE NOT EXISTS (SELECT 1 FROM notes_account WHERE name_folded = :folded)
        ON CONFLICT (name_key) DO NOTHING
        """

    /// Replaces the hash of a password, unless the password was changed meanwhile.
    ///
    /// - Parameter alongside: runs in the same transaction if it was replaced.
    /// - Returns: whether it was replaced.
    @discardableResult
    func replace(
        _ old: PasswordHash,
        by new: PasswordHash,
        of account: Int64,
        alongside: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws -> Bool {
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
            guard db.changesCount > 0 else { return false }
            try alongside(db)
            return true
        }
    }

    /// Checks that an account still has a password, in the transaction that opens a session for it.
    ///
    /// - Throws: ``AccountChanged``; GRDB's errors.
    static func check(_ account: NoteAccount, _ db: Database) throws {
        let digest = try Data.fetchOne(
            db,
            sql: "SELECT digest FROM notes_account WHERE id = ?",
            arguments: [account.id]
        )
        guard digest == account.password.digest else { throw AccountChanged() }
    }

    /// Deletes an account with its notes and all that was made of them, unless its password was changed meanwhile.
    ///
    /// - Parameter alongside: runs in the same transaction.
    /// - Throws: ``AccountChanged``; `StorageError`.
    func delete(_ account: NoteAccount, alongside: @escaping @Sendable (Database) throws -> Void) async throws {
        defer { noteChanges[account.id].bump() }
        try await database.writeErasing { db in
            try Self.check(account, db)
            try Self.removeTexts(of: account.id, db)
            for statement in Self.deletions {
                try db.execute(sql: statement, arguments: ["account": account.id])
            }
            try alongside(db)
        }
    }

    // The R-tree first: it is deleted by the rows of the notes. The cells precede the notes, whose trigger
    // would otherwise count each note out of fifteen of them.
    private static let deletions = [
        "DELETE FROM note_position WHERE id IN (SELECT id FROM note WHERE account = :account)",
        "DELETE FROM note_cell WHERE account = :account",
        "DELETE FROM note WHERE account = :account",
        "DELETE FROM note_trash WHERE account = :account",
        "DELETE FROM notes_account WHERE id = :account",
    ]
}
