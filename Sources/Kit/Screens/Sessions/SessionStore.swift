package import Cluster
package import Concurrency
package import Foundation
package import GRDB
import Storage

/// The sessions of all apps, in one table, which several servers may share. Only hashes of tokens are stored.
package struct SessionStore: Sendable {
    /// The name of the lock for changes of existing sessions. A transaction of an app that ends sessions holds it, so
    /// that no other one changes a row meanwhile; one that only opens a session need not.
    package static let lock = "sessions"

    let users: UserDatabase
    let uses = SessionUses()
    let removals = Removals()
    /// The cookies that carry tokens.
    package let cookies: SessionCookies
    private let lifetime: Duration?
    let clock: WallClock
    /// Returns the time by which sessions expire, if it is not the clock's.
    package var expiryTime: (@Sendable () -> Date)?
    private let opened = OpenSessions()

    /// Creates a store.
    ///
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
    /// - Throws: `StorageError`, `SharedStoreError`, `CancellationError`.
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
    /// - Throws: 401 if the credentials are malformed; `StorageError`, `SharedStoreError`, `CancellationError`.
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
        opened.token(of: tokenHash).and(users.changeToken(of: SessionTable.name))
    }

    /// Returns the session of a token. One that was read before is not read again until it ends.
    /// - Throws: `StorageError`, `SharedStoreError`.
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
    /// this server has a row of counts as open.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`.
    func storedSession(_ tokenHash: Data) async throws -> Session? {
        let oldest = oldest ?? Int64.min
        let lag = try await users.catchUp()
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
