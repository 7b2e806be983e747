import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// An account with the hash of its password.
struct NoteAccount: Sendable, Equatable {
    let id: Int64
    let name: String
    let password: PasswordHash

    /// Returns a session of it that begins at a time.
    func session(at time: Date) -> Session {
        Session(app: NotesApp.name, kind: .user, account: "\(id)", name: name, createdAt: time)
    }
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
        try users.read { db in
            let rows = try Row.fetchAll(db.cachedStatement(sql: Self.selectAccounts), arguments: [name.key])
            let row = rows.count == 1 ? rows.first : try rows.first { try $0.value("name_key") == name.spelling }
            return try row.map(NoteAccount.init(row:))
        }
    }

    /// Returns whether an account has a name that is equal to this one, whatever earlier rules kept apart.
    func isTaken(_ name: UserName) throws -> Bool {
        try users.read { db in
            try Row.fetchOne(try db.cachedStatement(sql: Self.selectAccounts), arguments: [name.key]) != nil
        }
    }

    func account(_ id: Int64) throws -> NoteAccount? {
        try users.read { db in
            try NoteAccount.fetchOne(db.cachedStatement(sql: Self.selectAccount), arguments: [id])
        }
    }

    static let selectAccounts = "SELECT * FROM notes_account WHERE name_folded = ?"
    static let selectAccount = "SELECT * FROM notes_account WHERE id = ?"

    /// Inserts an account.
    ///
    /// - Returns: nil if the name is taken.
    func register(_ name: UserName, _ password: PasswordHash, now: Date) async throws -> NoteAccount? {
        try await users.write(scope: Self.names) { try Self.register(name, password, now: now, $0) }
    }

    /// Inserts an account in the caller's transaction, which for a test's account inserts its session, too.
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

    /// Opens a session of an account, and returns its token.
    ///
    /// - Throws: ``AccountChanged`` if the account was deleted or has another password by now.
    func open(_ session: Session, of account: NoteAccount, for carrier: SessionCarrier, in sessions: SessionStore)
        async throws -> String
    {
        let token = SessionStore.newToken(for: carrier).token
        try await users.write(scope: Self.scope(account.id)) { db in
            try Self.check(account, db)
            try sessions.open(session, token: token, for: carrier, in: db)
        }
        return token
    }

    /// Replaces the hash of a password by another one of the same password, unless the password was changed meanwhile.
    ///
    /// - Returns: whether it was replaced.
    @discardableResult
    func rehash(_ old: PasswordHash, by new: PasswordHash, of account: Int64) async throws -> Bool {
        try await users.write(scope: Self.scope(account)) { try Self.replace(old, by: new, of: account, $0) }
    }

    /// Replaces a password and ends the sessions of the account, unless the password was changed meanwhile.
    ///
    /// - Parameter credentials: those of the session that stays; nil for none.
    /// - Returns: whether it was replaced.
    func replace(
        _ old: PasswordHash,
        by new: PasswordHash,
        of account: Int64,
        in sessions: SessionStore,
        except credentials: SessionCredentials?
    ) async throws -> Bool {
        try await users.write(scope: Self.scope(account), locks: [SessionStore.lock]) { db in
            guard try Self.replace(old, by: new, of: account, db) else { return false }
            try sessions.close(app: Self.app, account: "\(account)", except: credentials, in: db)
            return true
        }
    }

    private static func replace(_ old: PasswordHash, by new: PasswordHash, of account: Int64, _ db: Database) throws
        -> Bool
    {
        try db.execute(
            sql: """
                UPDATE notes_account SET salt = ?, rounds = ?, block_size = ?, parallelism = ?, digest = ?
                WHERE id = ? AND digest = ?
                """,
            arguments: [
                new.salt, new.cost.rounds, new.cost.blockSize, new.cost.parallelism, new.digest, account, old.digest,
            ]
        )
        return db.changesCount > 0
    }

    /// Checks that an account still has a password, in the transaction that opens a session for it.
    ///
    /// - Throws: ``AccountChanged``.
    static func check(_ account: NoteAccount, _ db: Database) throws {
        let digest = try Data.fetchOne(
            db,
            sql: "SELECT digest FROM notes_account WHERE id = ?",
            arguments: [account.id]
        )
        guard digest == account.password.digest else { throw AccountChanged() }
    }

    /// Deletes an account with its notes, all that was made of them, and its sessions.
    ///
    /// - Throws: ``AccountChanged`` if its password was changed meanwhile.
    func delete(_ account: NoteAccount, in sessions: SessionStore) async throws {
        defer { noteChanges[account.id].bump() }
        // A changeset of the journal includes the deleted rows: all rows of an account may be too large for one.
        while users.isShared, try await deleteSome(account) {}
        try await users.write(
            scope: Self.scope(account.id),
            locks: [Self.names, SessionStore.lock],
            deleting: .permanent
        ) { db in
            try Self.check(account, db)
            try Self.removeTexts(of: account.id, db)
            for statement in Self.deletions {
                try db.execute(sql: statement, arguments: ["account": account.id])
            }
            try sessions.close(app: Self.app, account: "\(account.id)", in: db)
        }
    }

    /// Deletes some notes of an account that is about to be deleted.
    ///
    /// - Returns: whether there may be more.
    private func deleteSome(_ account: NoteAccount) async throws -> Bool {
        try await users.write(scope: Self.scope(account.id)) { db in
            try Self.check(account, db)
            var count = 0
            let select = "SELECT * FROM note WHERE account = ? LIMIT ?"
            for note in try Note.fetchAll(db, sql: select, arguments: [account.id, Self.journalBatch]) {
                try Self.remove(note, account: account.id, db)
                try db.cachedStatement(sql: "DELETE FROM note WHERE id = ?").execute(arguments: [note.id])
                count += 1
            }
            guard count == 0 else { return true }
            try db.execute(sql: Self.purgeUpTo, arguments: [account.id, Int64.max, Self.journalBatch])
            return db.changesCount > 0
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
