public import Database
import Foundation
public import Freshness
public import GRDB
import ResponseStore
import Synchronization
import Upstream

/// The sessions of all apps, in one table. Only hashes of tokens are stored.
public struct SessionStore: Sendable {
    /// The functions that are called after a session has ended.
    private final class EndListeners: Sendable {
        let functions = Mutex<[@Sendable (_ tokenHash: Data) -> Void]>([])
    }

    /// What belongs to expired sessions, by app.
    final class Removals: Sendable {
        let byApp = Mutex<[String: Removal]>([:])
    }

    let database: LarderDatabase
    let uses = SessionUses()
    let removals = Removals()
    /// The cookies that carry tokens.
    public let cookies: SessionCookies
    private let lifetime: Duration?
    private let clock: WallClock
    private let ends = VersionCounters()
    private let endListeners = EndListeners()
    private let known = KnownSessions()

    /// Creates a store in a database.
    ///
    /// - Parameters:
    ///   - lifetime: time without a use after which a session ends; nil for none.
    ///   - cookies: the cookies that carry tokens.
    public init(
        _ database: LarderDatabase,
        lifetime: Duration? = nil,
        cookies: SessionCookies = SessionCookies(instance: "local"),
        clock: WallClock = .system
    ) {
        self.database = database
        self.cookies = cookies
        self.lifetime = lifetime
        self.clock = clock
    }

    /// The instant before which a session was last used if it is expired; nil if none expires.
    var oldest: Int64? { lifetime.map { clock.now().addingTimeInterval(-$0.seconds).millisecondsSince1970 } }

    /// Stores a session and returns its token, which is known to the client only from here on.
    /// - Throws: `StorageError`.
    public func open(_ session: Session, for carrier: SessionCarrier = .bearer) async throws -> String {
        try await open(session, for: carrier) { _ in }
    }

    /// Stores a session if a check in the same transaction passes, and returns its token.
    /// - Parameters:
    ///   - carrier: how the client will send the token.
    ///   - check: throws if the account may not have a session any more.
    /// - Throws: `StorageError`; what `check` throws.
    public func open(
        _ session: Session,
        for carrier: SessionCarrier = .bearer,
        check: @escaping @Sendable (Database) throws -> Void
    ) async throws -> String {
        try await database.write { db in
            try check(db)
            return try open(session, for: carrier, in: db).token
        }
    }

    /// Stores a session in the transaction that stores what belongs to it.
    /// - Returns: The token, and the identity of the session.
    /// - Throws: GRDB's errors.
    public func open(_ session: Session, for carrier: SessionCarrier = .bearer, in db: Database) throws -> (
        token: String, id: String
    ) {
        try insert(session, SessionToken.make(), for: carrier, in: db)
    }

    /// Stores a session under a token.
    /// - Returns: The token, and the identity of the session.
    /// - Throws: GRDB's errors.
    func insert(
        _ session: Session,
        _ token: String,
        for carrier: SessionCarrier,
        isSeeded: Bool = false,
        in db: Database
    ) throws -> (token: String, id: String) {
        let hash = SessionToken.hash(token, carrier)
        try db.execute(
            sql: """
                INSERT INTO session (token_hash, app, kind, account, name, created_at, used_at, seeded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                hash, session.app, session.kind.rawValue, session.account, session.name,
                session.createdAt.millisecondsSince1970, session.createdAt.millisecondsSince1970, isSeeded,
            ]
        )
        return (token, Self.id(of: hash))
    }

    /// Returns the identity of the session whose token has this hash: the hash in hexadecimal, as SQLite's `hex`.
    static func id(of tokenHash: Data) -> String {
        tokenHash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined().uppercased()
    }

    /// Returns the session of an app that a request carries the token of.
    /// - Throws: 401 `session-required` without a token, `session-expired` if the token opens no session of this app;
    ///   `StorageError`.
    public func session(of credentials: SessionCredentials, app: String) throws -> Session {
        guard let hash = try credentials.tokenHash(of: app) else {
            throw Problem(
                .sessionRequired,
                "Open a session with POST /v1/\(app)/session and send its token as Authorization: Bearer, "
                    + "or its cookie."
            )
        }
        guard let session = try session(tokenHash: hash), session.app == app else {
            throw Problem(.sessionExpired, .noSession(app))
        }
        return session
    }

    /// Returns the same session, if there is one: for routes that do not require a session.
    /// - Throws: `StorageError`.
    public func knownSession(of credentials: SessionCredentials, app: String) throws -> Session? {
        guard let hash = try? credentials.tokenHash(of: app) else { return nil }
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

    /// Ends the session of an app that a request carries the token of.
    /// - Throws: 401 if the credentials are malformed; `StorageError`.
    public func close(_ credentials: SessionCredentials, app: String) async throws {
        guard let hash = try credentials.tokenHash(of: app) else { return }
        defer { ended(hash) }
        try await database.writeErasing { db in
            try db.execute(sql: "DELETE FROM session WHERE token_hash = ?", arguments: [hash])
        }
    }

    /// Ends all sessions of an account of an app, in the transaction that removes its data or changes its password.
    /// - Parameter credentials: those of a session that stays; nil for none.
    /// - Throws: 401 if the credentials are malformed; GRDB's errors.
    public func close(
        app: String,
        account: String,
        except credentials: SessionCredentials? = nil,
        in db: Database
    ) throws {
        let hashes = try Data.fetchAll(
            db,
            sql: "DELETE FROM session WHERE app = ? AND account = ? AND token_hash IS NOT ? RETURNING token_hash",
            arguments: [app, account, try credentials?.tokenHash(of: app)]
        )
        db.afterNextTransaction { _ in
            for hash in hashes { ended(hash) }
        }
    }

    func ended(_ tokenHash: Data) {
        ends[tokenHash].bump()
        for listener in endListeners.functions.withLock({ $0 }) { listener(tokenHash) }
    }

    /// Registers a function to be called after any session has ended, with the hash of its token.
    func onEnd(_ listener: @escaping @Sendable (_ tokenHash: Data) -> Void) {
        endListeners.functions.withLock { $0.append(listener) }
    }

    /// Returns how long credentials open the session that they open now. To be taken before ``session(of:app:)``.
    func changeToken(of credentials: SessionCredentials, app: String) -> ChangeToken {
        guard let hash = try? credentials.tokenHash(of: app) else { return .unlimited }
        let unended = ChangeToken(of: ends[hash])
        guard lifetime != nil else { return unended }
        // A cached response is a use as well.
        return unended.noting(AccessReporter { [uses, clock] in uses.note(hash, at: clock.now()) })
    }

    /// Returns how long ``session(ofAny:)`` gives the same. To be taken before it.
    func changeToken(ofAny tokens: PossibleTokens) -> ChangeToken {
        tokens.hashes.reduce(.unlimited) { $0.and(ChangeToken(of: ends[$1])) }
    }

    /// Returns the session of a token. One that was read before is not read again until it ends.
    /// - Throws: `StorageError`.
    func session(tokenHash: Data) throws -> Session? {
        guard let session = try knownOrStored(tokenHash) else { return nil }
        if lifetime != nil { uses.note(tokenHash, at: clock.now()) }
        return session
    }

    private func knownOrStored(_ tokenHash: Data) throws -> Session? {
        if let session = known.session(tokenHash) { return session }
        let unended = ChangeToken(of: ends[tokenHash])
        guard let session = try storedSession(tokenHash) else { return nil }
        known.keep(session, tokenHash, unended)
        return session
    }

    /// Returns the session of a token as it is stored now; nil if it is expired.
    /// - Throws: `StorageError`.
    func storedSession(_ tokenHash: Data) throws -> Session? {
        try database.read { db in
            try Row.fetchOne(
                try db.cachedStatement(
                    sql: """
                        SELECT app, kind, account, name, created_at FROM session
                        WHERE token_hash = ? AND used_at >= ?
                        """
                ),
                arguments: [tokenHash, oldest ?? Int64.min]
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
