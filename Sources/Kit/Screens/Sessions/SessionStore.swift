package import Cluster
package import Concurrency
package import Foundation
package import GRDB
import HTTP
package import Storage

/// The sessions of all apps, in one table, which several servers may share. Only hashes of tokens are stored.
package struct SessionStore: Sendable {
    /// The name of the lock for changes of existing sessions. A transaction of an app that ends sessions holds it, so
    /// that no other one changes a row meanwhile; one that only opens a session need not.
    package static let lock = "sessions"

    let users: UserDatabase
    let uses = SessionUses()
    let removals = Removals()
    package let cookies: SessionCookies
    private let lifetime: Duration?
    let clock: WallClock
    /// Returns the time by which sessions expire, if it is not the clock's.
    package var expiryTime: (@Sendable () -> Date)?
    private let opened = OpenSessions()

    /// - Parameters:
    ///   - users: a session that ends on one of several servers has ended on all.
    ///   - lifetime: time without a use after which a session ends; nil for none.
    ///   - cookies: the cookies that carry tokens, of the same names on all servers.
    package init(
        _ users: UserDatabase,
        lifetime: Duration? = nil,
        cookies: SessionCookies = SessionCookies(instance: "local"),
        clock: WallClock = .system
    ) {
        self.users = users
        self.lifetime = lifetime
        self.cookies = cookies
        self.clock = clock
        users.onRemoval(of: SessionTable.name) { [opened] keys in
            for case let hash? in keys.map({ $0.first.flatMap(Data.fromDatabaseValue) }) { opened.end(hash) }
        }
    }

    /// The instant before which a session was last used if it is expired; nil if none expires.
    var oldest: Int64? {
        lifetime.map { (expiryTime?() ?? clock.now()).addingTimeInterval(-$0.seconds).millisecondsSince1970 }
    }

    /// Stores a session and returns its token, which is known to the client only from here on.
    /// - Parameter carrier: how the client will send the token.
    /// - Throws: `StorageError`, `ClusterError`, `CancellationError`.
    package func open(_ session: Session, for carrier: SessionCarrier = .bearer) async throws -> String {
        let token = SessionToken.make()
        try await users.write(scope: Self.lock) { try open(session, token: token, for: carrier, in: $0) }
        return token
    }

    /// Returns the token of a session that is to be opened, and its identity, which rows of its data have. A
    /// transaction that opens the session may run twice, so the token is made before.
    /// - Parameter carrier: how the client will send the token.
    package static func newToken(for carrier: SessionCarrier) -> (token: String, id: String) {
        let token = SessionToken.make()
        return (token, id(of: SessionToken.hash(token, carrier)))
    }

    /// Stores a session in the transaction that stores its data.
    /// - Throws: GRDB's errors.
    package func open(_ session: Session, token: String, for carrier: SessionCarrier, in db: Database) throws {
        try SessionTable.insert(session, SessionToken.hash(token, carrier), isSeeded: false, db)
    }

    /// Returns the identity of the session whose token has this hash: the hash in hexadecimal, as SQLite's `hex`.
    static func id(of tokenHash: Data) -> String {
        tokenHash.hexadecimal.uppercased()
    }

    /// Returns the session of an app that a request carries the token of.
    /// - Throws: 401 `session-required` without a token, `session-expired` if the token opens no session of this app;
    ///   `StorageError`, `ClusterError`.
    package func session(of credentials: SessionCredentials, app: String) async throws -> Session {
        guard let hash = try credentials.tokenHash(of: app) else {
            throw Problem(
                .sessionRequired,
                "Open a session with POST /v1/\(app)/session and send its token as Authorization: Bearer, "
                    + "or its cookie."
            )
        }
        guard let session = try await session(tokenHash: hash), session.app == app else {
            throw Problem(.sessionExpired, .noSession)
        }
        return session
    }

    /// Returns the same session, if there is one: for routes that do not require a session.
    /// - Throws: `StorageError`, `ClusterError`.
    package func knownSession(of credentials: SessionCredentials, app: String) async throws -> Session? {
        guard let hash = try? credentials.tokenHash(of: app) else { return nil }
        return try await session(tokenHash: hash).flatMap { $0.app == app ? $0 : nil }
    }

    /// Returns the session that one of these tokens opens, of any app.
    /// - Throws: `StorageError`, `ClusterError`.
    func session(ofAny tokenHashes: [Data]) async throws -> Session? {
        for hash in tokenHashes {
            if let session = try await session(tokenHash: hash) { return session }
        }
        return nil
    }

    /// Ends the session of an app that a request carries the token of.
    /// - Throws: 401 if the credentials are malformed; `StorageError`, `ClusterError`, `CancellationError`.
    package func close(_ credentials: SessionCredentials, app: String) async throws {
        guard let hash = try credentials.tokenHash(of: app) else { return }
        try await users.write(scope: Self.lock, deleting: .permanent) { db in
            try SessionTable.remove(hash, db)
            ended([hash], db)
        }
    }

    /// Ends all sessions of an account of an app, in the transaction that removes its data or changes its password,
    /// which holds ``lock``.
    /// - Parameter credentials: those of a session that stays; nil for none.
    /// - Throws: 401 if the credentials are malformed; GRDB's errors.
    package func close(
        app: String,
        account: String,
        except credentials: SessionCredentials? = nil,
        in db: Database
    ) throws {
        let kept = try credentials?.tokenHash(of: app)
        ended(try SessionTable.remove(app: app, account: account, except: kept, db), db)
    }

    /// Announces after the commit that sessions have ended. Of several servers, each learns it with the rows.
    func ended(_ tokenHashes: [Data], _ db: Database) {
        db.afterNextTransaction { [opened] _ in
            for hash in tokenHashes { opened.end(hash) }
        }
    }

    /// Registers a function to be called after any session has ended, with the hash of its token.
    func onEnd(_ listener: @escaping @Sendable (_ tokenHash: Data) -> Void) { opened.onEnd(listener) }

    /// Returns a token that holds while credentials open the same session. Take it before ``session(of:app:)``.
    func changeToken(of credentials: SessionCredentials, app: String) -> ChangeToken {
        guard let hash = try? credentials.tokenHash(of: app) else { return .unlimited }
        let unended = unended(hash)
        guard lifetime != nil else { return unended }
        // A cached response is a use as well.
        return unended.noting(AccessReporter { [uses, clock] in uses.note(hash, at: clock.now()) })
    }

    /// Returns a token that holds while ``session(ofAny:)`` returns the same. Take it before that.
    func changeToken(ofAny tokenHashes: [Data]) -> ChangeToken {
        tokenHashes.reduce(.unlimited) { $0.and(unended($1)) }
    }

    /// Returns a token that holds while a session is known to be open: for a short time if other servers may end it.
    private func unended(_ tokenHash: Data) -> ChangeToken {
        opened.token(of: tokenHash).and(users.changeToken(of: SessionTable.name))
    }

    /// Returns the session of a token. One that was read before is not read again until it ends.
    /// - Throws: `StorageError`, `ClusterError`.
    func session(tokenHash: Data) async throws -> Session? {
        guard let session = try await knownOrStored(tokenHash) else { return nil }
        if lifetime != nil { uses.note(tokenHash, at: clock.now()) }
        return session
    }

    private func knownOrStored(_ tokenHash: Data) async throws -> Session? {
        if let session = opened.session(tokenHash) { return session }
        let unended = unended(tokenHash)
        guard let session = try await storedSession(tokenHash) else {
            opened.forget(tokenHash)
            return nil
        }
        opened.keep(session, tokenHash, unended)
        return session
    }

    /// Returns the stored session of a token; nil if it is expired. While PostgreSQL does not respond, a session that
    /// this server has a row of counts as open, unless it may have been ended while this server was down.
    ///
    /// - Throws: `StorageError`, `ClusterError`.
    func storedSession(_ tokenHash: Data) async throws -> Session? {
        let oldest = oldest ?? Int64.min
        let lag = try await users.catchUpSinceStart()
        if let session = try users.read({ try SessionTable.session(tokenHash, usedSince: oldest, $0) }) {
            return session
        }
        guard users.isShared else { return nil }
        if let lag { throw lag.reason }
        // Another server may have opened it, or written a use, a moment ago.
        try await users.catchUpToEnd()
        return try users.read { try SessionTable.session(tokenHash, usedSince: oldest, $0) }
    }
}

/// The rows of sessions. Each function is part of a transaction.
enum SessionTable {
    static let name = "session"
    /// Milliseconds within which further uses are not written.
    private static let resolution: Int64 = 86_400_000

    /// Returns the session of a token; nil if it was not used since.
    static func session(_ tokenHash: Data, usedSince oldest: Int64, _ db: Database) throws -> Session? {
        try Row.fetchOne(try db.cachedStatement(sql: select), arguments: [tokenHash, oldest]).map { row in
            try Session(
                app: row.value(0),
                kind: row.value(1) == Session.Kind.guest.rawValue ? .guest : .user,
                account: row.value(2),
                name: row.value(3),
                createdAt: row.date(4),
                id: SessionStore.id(of: tokenHash)
            )
        }
    }

    static func insert(_ session: Session, _ tokenHash: Data, isSeeded: Bool, _ db: Database) throws {
        let now = session.createdAt.millisecondsSince1970
        try db.execute(
            sql: """
                INSERT INTO session (token_hash, app, kind, account, name, created_at, used_at, seeded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                tokenHash, session.app, session.kind.rawValue, session.account, session.name, now, now, isSeeded,
            ]
        )
    }

    static func remove(_ tokenHash: Data, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM session WHERE token_hash = ?").execute(arguments: [tokenHash])
    }

    /// Removes the sessions of an account.
    ///
    /// - Parameter kept: the hash of the token of the one that stays.
    /// - Returns: the hashes of their tokens.
    static func remove(app: String, account: String, except kept: Data?, _ db: Database) throws -> [Data] {
        try Data.fetchAll(
            db,
            sql: "DELETE FROM session WHERE app = ? AND account = ? AND token_hash IS NOT ? RETURNING token_hash",
            arguments: [app, account, kept]
        )
    }

    /// Returns those of some uses that have to be written: it is exact to the day when a session was used.
    static func due(_ uses: [Data: Date], _ db: Database) throws -> [(hash: Data, time: Int64)] {
        let statement = try db.cachedStatement(sql: selectUse)
        return try uses.compactMap { hash, time in
            let time = time.millisecondsSince1970
            let isDue = try Int.fetchOne(statement, arguments: [hash, time - resolution]) != nil
            return isDue ? (hash, time) : nil
        }
    }

    static func store(_ uses: some Sequence<(hash: Data, time: Int64)>, _ db: Database) throws {
        let statement = try db.cachedStatement(sql: updateUse)
        for (hash, time) in uses {
            try statement.execute(arguments: ["now": time, "hash": hash, "before": time - resolution])
        }
    }

    /// Returns sessions of an app that were not used since, with the hashes of their tokens.
    static func unused(of app: String, since oldest: Int64, _ limit: Int, _ db: Database) throws
        -> [(hash: Data, expired: SessionStore.Expired)]
    {
        let statement = try db.cachedStatement(sql: selectUnused)
        return try Row.fetchAll(statement, arguments: ["app": app, "oldest": oldest, "limit": limit]).map { row in
            let hash: Data = try row.value(0)
            let id = SessionStore.id(of: hash)
            return (hash, try SessionStore.Expired(id: id, account: row.value(1), isLast: row.value(2)))
        }
    }

    static let select = """
        SELECT app, kind, account, name, created_at FROM session WHERE token_hash = ? AND used_at >= ?
        """
    static let selectUse = "SELECT 1 FROM session WHERE token_hash = ? AND used_at < ?"
    static let updateUse = "UPDATE session SET used_at = :now WHERE token_hash = :hash AND used_at < :before"
    static let selectUnused = """
        SELECT token_hash, account, NOT EXISTS (
            SELECT 1 FROM session AS other
            WHERE other.app = session.app AND other.account = session.account AND other.used_at >= :oldest
        ) FROM session WHERE app = :app AND used_at < :oldest LIMIT :limit
        """
}

extension SessionStore {
    /// The tables of sessions, of the name of their cookies, and of the responses to changes that they made.
    package static let migrations: [SchemaMigration] = [
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
        },
        SchemaMigration(
            "sessions/002 uses",
            sql: """
                ALTER TABLE session ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0; -- milliseconds since 1970 UTC
                UPDATE session SET used_at = unixepoch() * 1000;
                CREATE INDEX session_by_use ON session (app, used_at);
                """
        ),
        SchemaMigration(
            "sessions/003 seeded",
            sql: """
                ALTER TABLE session ADD COLUMN seeded INTEGER NOT NULL DEFAULT 0; -- whether a test has chosen the token
                CREATE INDEX session_seeded ON session (seeded) WHERE seeded = 1;
                """
        ),
        SchemaMigration(
            "sessions/004 cookies",
            sql: """
                -- What the names of the cookies have in common, if the rows were copied from elsewhere.
                CREATE TABLE session_cookies (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), instance TEXT NOT NULL
                ) STRICT;
                -- Sessions of SQLite take a value that is not stored for NULL.
                UPDATE session SET seeded = seeded;
                """
        ),
        KeyedResponses.migration,
    ]

    /// The tables that several servers replicate.
    package static let replicated = JournalTables(
        replicated: [SessionTable.name, "session_cookies", KeyedResponses.table]
    )
}

/// Sessions whose tokens a test has chosen. They exist as long as the server is under test, which has its rows by
/// itself.
extension SessionStore {
    /// Stores a session under a token that a test has chosen, in the transaction that stores its data.
    ///
    /// - Returns: The identity of the session.
    /// - Throws: 422 with the pointer `/token` if it cannot be one, or opens a session already; GRDB's errors.
    @discardableResult
    package func seed(_ session: Session, token: String, in db: Database) throws -> String {
        guard (1...512).contains(token.utf8.count), Self.isToken68(token) else {
            throw Self.invalidToken("invalid", "A token has up to 512 letters, digits and -._~+/, and = at its end.")
        }
        let hash = SessionToken.hash(token)
        let sql = "SELECT 1 FROM session WHERE token_hash = ?"
        guard try Int.fetchOne(db, sql: sql, arguments: [hash]) == nil else {
            throw Self.invalidToken("duplicate", "This token opens a session already.")
        }
        try SessionTable.insert(session, hash, isSeeded: true, db)
        return Self.id(of: hash)
    }

    /// Ends the sessions whose tokens a test has chosen: anyone could know them.
    /// - Throws: `StorageError`, `ClusterError`, `CancellationError`.
    package func endSeeded() async throws {
        let hasAny = try users.read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM session WHERE seeded = 1)") ?? false
        }
        guard hasAny else { return }
        try await users.write(scope: Self.lock) { try $0.execute(sql: "DELETE FROM session WHERE seeded = 1") }
    }

    /// Whether a text is a token as `Authorization` has them (RFC 6750 §2.1).
    private static func isToken68(_ text: String) -> Bool {
        let body = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !body.isEmpty && body.allSatisfy { ASCIISet.alphanumerics.contains($0) || "-._~+/".utf8.contains($0) }
    }

    private static func invalidToken(_ code: String, _ detail: Text) -> Problem {
        .validation([.field("/token", code, detail)])
    }
}
