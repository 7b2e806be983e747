public import Database
import Foundation
import Freshness
public import GRDB
import ResponseStore
import Synchronization
import Upstream

/// The sessions of all apps, in one table. Only hashes of tokens are stored.
public struct SessionStore: Sendable {
    /// The table of sessions.
    public static let migrations: [SchemaMigration] = [
        SchemaMigration("sessions/001 session") { db in
            try db.execute(
                sql: """
                    CREATE TABLE session (
                        token_hash BLOB NOT NULL PRIMARY KEY,
                        app TEXT NOT NULL,
                        kind TEXT NOT NULL CHECK (kind IN ('user', 'guest')),
                        account TEXT NOT NULL,
                        name TEXT,
                        created_at INTEGER NOT NULL -- milliseconds since 1970 UTC
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX session_account ON session (app, account);
                    """
            )
        }
    ]

    /// The functions that are called after a session has ended.
    private final class EndListeners: Sendable {
        let functions = Mutex<[@Sendable () -> Void]>([])
    }

    private let database: LarderDatabase
    private let ends = VersionCounters()
    private let endListeners = EndListeners()
    private let known = KnownSessions()

    /// Creates a store in a database.
    public init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Stores a session and returns its token, which is known to the client only from here on.
    /// - Throws: `StorageError`.
    public func open(_ session: Session) async throws -> String {
        try await open(session) { _ in }
    }

    /// Stores a session if a check in the same transaction passes, and returns its token.
    /// - Parameter check: throws if the account may not have a session any more.
    /// - Throws: `StorageError`; what `check` throws.
    public func open(_ session: Session, check: @escaping @Sendable (Database) throws -> Void) async throws -> String {
        try await database.write { db in
            try check(db)
            return try open(session, in: db).token
        }
    }

    /// Stores a session in the transaction that stores what belongs to it.
    /// - Returns: The token, and the identity of the session.
    /// - Throws: GRDB's errors.
    public func open(_ session: Session, in db: Database) throws -> (token: String, id: String) {
        let token = SessionToken.make()
        let hash = SessionToken.hash(token)
        try db.execute(
            sql: "INSERT INTO session (token_hash, app, kind, account, name, created_at) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                hash, session.app, session.kind.rawValue, session.account, session.name,
                session.createdAt.millisecondsSince1970,
            ]
        )
        return (token, Self.id(of: hash))
    }

    /// Returns the identity of the session whose token has this hash: the hash in hexadecimal, as SQLite's `hex`.
    private static func id(of tokenHash: Data) -> String {
        tokenHash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined().uppercased()
    }

    /// Returns the session of a credential.
    /// - Throws: 401 `session-required` without a token, `session-expired` if the token opens no session of this app;
    ///   `StorageError`.
    public func session(of credential: BearerCredential, app: String) throws -> Session {
        guard let hash = try credential.tokenHash else {
            throw Problem(
                .sessionRequired,
                "Open a session with POST /v1/\(app)/session and send its token as Authorization: Bearer."
            )
        }
        guard let session = try session(tokenHash: hash), session.app == app else {
            throw Problem(.sessionExpired, "This token opens no session of \(app); it may have been logged out.")
        }
        return session
    }

    /// Returns the session of a credential, if there is one: for routes that do not require a session.
    /// - Throws: `StorageError`.
    public func knownSession(of credential: BearerCredential, app: String) throws -> Session? {
        guard let hash = try? credential.tokenHash else { return nil }
        return try session(tokenHash: hash).flatMap { $0.app == app ? $0 : nil }
    }

    /// Returns the session that one of these tokens opens, of any app.
    /// - Throws: `StorageError`.
    func session(ofAny tokens: PossibleTokens) throws -> Session? {
        for hash in tokens.hashes {
            if let session = try session(tokenHash: hash) { return session }
        }
        return nil
    }

    /// Ends the session of a credential.
    /// - Throws: 401 if `Authorization` is malformed; `StorageError`.
    public func close(_ credential: BearerCredential) async throws {
        guard let hash = try credential.tokenHash else { return }
        defer { ended(hash) }
        try await database.writeErasing { db in
            try db.execute(sql: "DELETE FROM session WHERE token_hash = ?", arguments: [hash])
        }
    }

    /// Ends all sessions of an account of an app, in the transaction that removes its data or changes its password.
    /// - Parameter credential: the credential of a session that stays; nil for none.
    /// - Throws: 401 if the credential is malformed; GRDB's errors.
    public func close(app: String, account: String, except credential: BearerCredential? = nil, in db: Database) throws
    {
        let hashes = try Data.fetchAll(
            db,
            sql: "DELETE FROM session WHERE app = ? AND account = ? AND token_hash IS NOT ? RETURNING token_hash",
            arguments: [app, account, try credential?.tokenHash]
        )
        db.afterNextTransaction { _ in
            for hash in hashes { ended(hash) }
        }
    }

    private func ended(_ tokenHash: Data) {
        ends[tokenHash].bump()
        for listener in endListeners.functions.withLock({ $0 }) { listener() }
    }

    /// Registers a function to be called after any session has ended.
    func onEnd(_ listener: @escaping @Sendable () -> Void) {
        endListeners.functions.withLock { $0.append(listener) }
    }

    /// Returns how long a credential opens the session that it opens now. To be taken before ``session(of:app:)``.
    func changeToken(of credential: BearerCredential) -> ChangeToken {
        guard let hash = try? credential.tokenHash else { return .unlimited }
        return ChangeToken(of: ends[hash])
    }

    /// Returns how long ``session(ofAny:)`` gives the same. To be taken before it.
    func changeToken(ofAny tokens: PossibleTokens) -> ChangeToken {
        tokens.hashes.reduce(.unlimited) { $0.and(ChangeToken(of: ends[$1])) }
    }

    /// Returns the session of a token. One that was read before is not read again until it ends.
    /// - Throws: `StorageError`.
    func session(tokenHash: Data) throws -> Session? {
        if let session = known.session(tokenHash) { return session }
        let unended = ChangeToken(of: ends[tokenHash])
        guard let session = try storedSession(tokenHash) else { return nil }
        known.keep(session, tokenHash, unended)
        return session
    }

    /// Returns the session of a token as it is stored now.
    /// - Throws: `StorageError`.
    func storedSession(_ tokenHash: Data) throws -> Session? {
        try database.read { db in
            try Row.fetchOne(
                try db.cachedStatement(
                    sql: "SELECT app, kind, account, name, created_at FROM session WHERE token_hash = ?"
                ),
                arguments: [tokenHash]
            ).map { row in
                Session(
                    app: row[0],
                    kind: row[1] == Session.Kind.guest.rawValue ? .guest : .user,
                    account: row[2],
                    name: row[3],
                    createdAt: Date(millisecondsSince1970: row[4]),
                    id: Self.id(of: tokenHash)
                )
            }
        }
    }
}
