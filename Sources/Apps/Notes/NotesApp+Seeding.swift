import Cluster
import Concurrency
import Crypto
import Foundation
import GRDB
package import Screens

extension NotesApp {
    package var seeding: Seeding {
        // A server under test has a database of its own.
        guard !notes.store.users.isShared else { return Seeding() }
        return NoteSeeding(store: notes.store, sessions: notes.sessions, clock: notes.clock).seeding
    }
}

/// Reads accounts and notes of a test's document.
struct NoteSeeding: Sendable {
    let store: NoteStore
    let sessions: SessionStore
    let clock: WallClock

    var seeding: Seeding { Seeding(members: ["notes": note], account: account) }

    /// `{"account", "body", "location"?, "created"?, "modified"?}`
    @Sendable private func note(_ fields: JSONFields) throws -> SeedStep {
        try fields.requireOnly("account", "body", "location", "created", "modified")
        let owner = try Self.name(try fields.string("account"), "/account")
        let changes = try NoteChanges(fields, isNew: true)
        let created = try fields.time("created") ?? clock.now()
        let modified = max(created, try fields.time("modified") ?? created)
        return SeedStep { [store] db in
            let account = try NoteStore.seed(
                changes.body ?? "",
                at: changes.location ?? .unknown,
                of: owner,
                created: created,
                modified: modified,
                db
            )
            guard let account else {
                throw Problem.validation([
                    .field("/account", "unknown", "There is no account \(owner.shown) of the notes.")
                ])
            }
            db.afterNextTransaction { _ in store.noteChanges[account].bump() }
        }
    }

    /// `{"name", "password"?}`: without a password, the account has the session of its token only.
    @Sendable private func account(_ fields: JSONFields, _ token: String) throws -> SeedStep {
        try fields.requireOnly("app", "name", "password", "token")
        let name = try Self.name(try fields.string("name"), "/name")
        let password = try fields.string("password").map(Self.hash)
        let unknown = { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) } }
        let hash = password ?? PasswordHash(salt: unknown(), cost: Self.cost, digest: unknown())
        let now = clock.now()
        return SeedStep { [sessions] db in
            guard let account = try NoteStore.register(name, hash, now: now, db) else {
                throw Problem.validation([.field("/name", "duplicate", "There is an account of this name.")])
            }
            try sessions.seed(account.session(at: now), token: token, in: db)
        }
    }

    /// Cheap: a test has many accounts, and the first login hashes the password again.
    private static let cost = PasswordHash.Cost.scrypt(logarithm: 4)

    private static func hash(_ text: String) throws -> PasswordHash {
        guard let password = try? Password(text) else {
            throw Problem.validation([
                .field("/password", "invalid", "password may have 1 to \(Password.longest) bytes.")
            ])
        }
        return try PasswordHash(of: password, cost: cost)
    }

    private static func name(_ text: String?, _ pointer: String) throws -> UserName {
        guard let text, let name = try? UserName.registering(text) else {
            let code = text == nil ? "required" : "invalid"
            throw Problem.validation([.field(pointer, code, "An account has a name of visible characters.")])
        }
        return name
    }
}

extension NoteStore {
    /// Inserts a note of a test's document.
    ///
    /// - Returns: its account; nil if there is none of that name.
    static func seed(
        _ body: String,
        at location: Note.Location,
        of owner: UserName,
        created: Date,
        modified: Date,
        _ db: Database
    ) throws -> Int64? {
        let sql = "SELECT id FROM notes_account WHERE name_folded = ? LIMIT 1"
        guard let account = try Int64.fetchOne(try db.cachedStatement(sql: sql), arguments: [owner.key]) else {
            return nil
        }
        _ = try insert(body, at: location, account: account, now: modified, created: created, db)
        return account
    }
}
