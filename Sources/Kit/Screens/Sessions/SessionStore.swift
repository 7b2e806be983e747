package import Database
package import Foundation
package import Freshness
package import GRDB
import ResponseStore
package import SharedStore
import Synchronization
import Upstream

/// The sessions of all apps, in one table: of the server's own database, or of a store that several servers share.
/// Only hashes of tokens are stored.
package struct SessionStore: Sendable {
    /// The functions that are called after a session has ended.
    private final class EndListeners: Sendable {
        let functions = Mutex<[@Sendable (_ tokenHash: Data) -> Void]>([])
    }

    /// The removals of the data of expired sessions, by app.
    final class Removals: Sendable {
        let byApp = Mutex<[String: ExpiredData]>([:])
    }

    let table: any SessionTable
    let uses = SessionUses()
    let removals = Removals()
    /// The cookies that carry tokens.
    package let cookies: SessionCookies
    private let lifetime: Duration?
    private let clock: WallClock
    /// Returns the time by which sessions expire, if it is not the clock's.
    package var expiryTime: (@Sendable () -> Date)?
    private let ends = VersionCounters()
    private let endListeners = EndListeners()
    private let known = KnownSessions()
    /// Messages to other servers; nil if there are none.
    private let changes: SharedChanges?

    /// Creates a store in the server's own database.
    ///
    /// - Parameters:
    ///   - lifetime: time without a use after which a session ends; nil for none.
    ///   - cookies: the cookies that carry tokens.
    package init(
        _ database: LarderDatabase,
        lifetime: Duration? = nil,
        cookies: SessionCookies = SessionCookies(instance: "local"),
        clock: WallClock = .system
    ) {
        self.init(LocalSessions(database: database), nil, lifetime, cookies, clock)
    }

    /// Creates a store that several servers share. A session that ends on one has ended on all.
    ///
    /// - Parameters:
    ///   - changes: tells the others.
    ///   - lifetime: time without a use after which a session ends; nil for none.
    ///   - cookies: the cookies that carry tokens, of the same names on all servers.
    package init(
        _ database: SharedDatabase,
        _ changes: SharedChanges,
        lifetime: Duration? = nil,
        cookies: SessionCookies,
        clock: WallClock = .system
    ) {
        self.init(SharedSessions(database: database), changes, lifetime, cookies, clock)
        changes.onMessage(Self.endMessage) { [self] text in
            if let hash = Self.tokenHash(ofID: text) { forget(hash) }
        }
    }

    private init(
        _ table: any SessionTable,
        _ changes: SharedChanges?,
        _ lifetime: Duration?,
        _ cookies: SessionCookies,
        _ clock: WallClock
    ) {
        self.table = table
        self.changes = changes
        self.cookies = cookies
        self.lifetime = lifetime
        self.clock = clock
    }

    /// The instant before which a session was last used if it is expired; nil if none expires.
    var oldest: Int64? {
        lifetime.map { (expiryTime?() ?? clock.now()).addingTimeInterval(-$0.seconds).millisecondsSince1970 }
    }

    /// Stores a session and returns its token, which is known to the client only from here on.
    /// - Parameter carrier: how the client will send the token.
    /// - Throws: `StorageError`, `SharedStoreError`.
    package func open(_ session: Session, for carrier: SessionCarrier = .bearer) async throws -> String {
        let token = SessionToken.make()
        try await table.insert(session, SessionToken.hash(token, carrier))
        return token
    }

    /// Returns the token of a session that is to be opened, and its identity, which rows of its data have.
    /// - Parameter carrier: how the client will send the token.
    package static func newToken(for carrier: SessionCarrier) -> (token: String, id: String) {
        let token = SessionToken.make()
        return (token, id(of: SessionToken.hash(token, carrier)))
    }

    /// Stores a session in the transaction of the shared store that stores its data.
    /// - Returns: The token, and the identity of the session.
    /// - Throws: `SharedStoreError`.
    package func open(
        _ session: Session,
        token: String = SessionToken.make(),
        for carrier: SessionCarrier = .bearer,
        in transaction: SQLTransaction
    ) throws -> (token: String, id: String) {
        let hash = SessionToken.hash(token, carrier)
        try SharedSessions.insert(session, hash, transaction)
        return (token, Self.id(of: hash))
    }

    /// Stores a session in the transaction that stores its data.
    /// - Returns: The token, and the identity of the session.
    /// - Throws: GRDB's errors.
    package func open(
        _ session: Session,
        token: String = SessionToken.make(),
        for carrier: SessionCarrier = .bearer,
        in db: Database
    ) throws -> (token: String, id: String) {
        try insert(session, token, for: carrier, in: db)
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
        try LocalSessions.insert(session, hash, isSeeded: isSeeded, db)
        return (token, Self.id(of: hash))
    }

    /// Returns the identity of the session whose token has this hash: the hash in hexadecimal, as SQLite's `hex`.
    static func id(of tokenHash: Data) -> String {
        tokenHash.hexadecimal.uppercased()
    }

    /// Returns the session of an app that a request carries the token of.
    /// - Throws: 401 `session-required` without a token, `session-expired` if the token opens no session of this app;
    ///   `StorageError`, `SharedStoreError`.
    package func session(of credentials: SessionCredentials, app: String) async throws -> Session {
        guard let hash = try credentials.tokenHash(of: app) else {
            throw Problem(
                .sessionRequired,
                "Open a session with POST /v1/\(app)/session and send its token as Authorization: Bearer, "
                    + "or its cookie."
            )
        }
        guard let session = try await session(tokenHash: hash), session.app == app else {
            throw Problem(.sessionExpired, .noSession(app))
        }
        return session
    }

    /// Returns the same session, if there is one: for routes that do not require a session.
    /// - Throws: `StorageError`, `SharedStoreError`.
    package func knownSession(of credentials: SessionCredentials, app: String) async throws -> Session? {
        guard let hash = try? credentials.tokenHash(of: app) else { return nil }
        return try await session(tokenHash: hash).flatMap { $0.app == app ? $0 : nil }
    }

    /// Returns the session that one of these tokens opens, of any app.
    /// - Throws: `StorageError`, `SharedStoreError`.
    func session(ofAny tokens: PossibleTokens) async throws -> Session? {
        for hash in tokens.hashes {
            if let session = try await session(tokenHash: hash) { return session }
        }
        return nil
    }

    /// Ends the session of an app that a request carries the token of.
    /// - Throws: 401 if the credentials are malformed; `StorageError`, `SharedStoreError`.
    package func close(_ credentials: SessionCredentials, app: String) async throws {
        guard let hash = try credentials.tokenHash(of: app) else { return }
        defer { ended(hash) }
        try await table.remove(hash)
    }

    /// Ends all sessions of an account of an app, in the transaction that removes its data or changes its password.
    /// - Parameter credentials: those of a session that stays; nil for none.
    /// - Throws: 401 if the credentials are malformed; GRDB's errors.
    package func close(
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

    /// Ends all sessions of an account of an app, in the transaction of the shared store that removes its data or
    /// changes its password.
    /// - Parameter credentials: those of a session that stays; nil for none.
    /// - Returns: The hashes of their tokens, to be announced after the commit.
    /// - Throws: 401 if the credentials are malformed; `SharedStoreError`.
    package func close(
        app: String,
        account: String,
        except credentials: SessionCredentials? = nil,
        in transaction: SQLTransaction
    ) throws -> [Data] {
        try SharedSessions.remove(app, account, except: try credentials?.tokenHash(of: app), transaction)
    }

    /// Announces that sessions have ended, after the transaction that has ended them.
    package func ended(_ tokenHashes: [Data]) {
        for hash in tokenHashes { ended(hash) }
    }

    func ended(_ tokenHash: Data) {
        forget(tokenHash)
        changes?.tell(Self.endMessage, Self.id(of: tokenHash))
    }

    private static let endMessage = "session-ended"

    /// Returns the hash of the token of the session of this identity; nil if it is none.
    private static func tokenHash(ofID text: String) -> Data? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var hash = Data()
        for start in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            hash.append(byte)
        }
        return hash
    }

    /// Forgets a session, and ends the streams of its client.
    private func forget(_ tokenHash: Data) {
        ends[tokenHash].bump()
        known.remove(tokenHash)
        for listener in endListeners.functions.withLock({ $0 }) { listener(tokenHash) }
    }

    /// Registers a function to be called after any session has ended, with the hash of its token.
    func onEnd(_ listener: @escaping @Sendable (_ tokenHash: Data) -> Void) {
        endListeners.functions.withLock { $0.append(listener) }
    }

    /// Returns how long credentials open the session that they open now. To be taken before ``session(of:app:)``.
    func changeToken(of credentials: SessionCredentials, app: String) -> ChangeToken {
        guard let hash = try? credentials.tokenHash(of: app) else { return .unlimited }
        let unended = unended(hash)
        guard lifetime != nil else { return unended }
        // A cached response is a use as well.
        return unended.noting(AccessReporter { [uses, clock] in uses.note(hash, at: clock.now()) })
    }

    /// Returns how long ``session(ofAny:)`` gives the same. To be taken before it.
    func changeToken(ofAny tokens: PossibleTokens) -> ChangeToken {
        tokens.hashes.reduce(.unlimited) { $0.and(unended($1)) }
    }

    /// Returns how long a session that is open now is known to be. If other servers may end it, that is not for long.
    private func unended(_ tokenHash: Data) -> ChangeToken {
        let own = ChangeToken(of: ends[tokenHash])
        return changes.map { own.and($0.token(of: Self.id(of: tokenHash))) } ?? own
    }

    /// Returns the session of a token. One that was read before is not read again until it ends.
    /// - Throws: `StorageError`, `SharedStoreError`.
    func session(tokenHash: Data) async throws -> Session? {
        guard let session = try await knownOrStored(tokenHash) else { return nil }
        if lifetime != nil { uses.note(tokenHash, at: clock.now()) }
        return session
    }

    private func knownOrStored(_ tokenHash: Data) async throws -> Session? {
        if let session = known.session(tokenHash) { return session }
        let unended = unended(tokenHash)
        let session: Session?
        do {
            session = try await storedSession(tokenHash)
        } catch SharedStoreError.unavailable(let reason) {
            // Sessions that were read before keep their screens from this server's own file; writes fail without the
            // store.
            guard let session = known.lastKnown(tokenHash) else { throw SharedStoreError.unavailable(reason) }
            return session
        }
        guard let session else {
            known.remove(tokenHash)
            return nil
        }
        known.keep(session, tokenHash, unended)
        return session
    }

    /// Reads the session of a token from the store; nil if it is expired.
    /// - Throws: `StorageError`, `SharedStoreError`.
    func storedSession(_ tokenHash: Data) async throws -> Session? {
        try await table.session(tokenHash, usedSince: oldest ?? Int64.min)
    }
}
