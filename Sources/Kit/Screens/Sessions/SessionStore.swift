import Foundation
public import GRDB
public import HTTPTypes
import NIOConcurrencyHelpers
public import Storage
import Upstream

/// The sessions of all apps, in one table. Tokens are kept as hashes only.
public struct SessionStore: Sendable {
    /// The table.
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

    private let database: LarderDatabase
    private let ends = VersionCounters()
    private let endings = NIOLockedValueBox<[@Sendable () -> Void]>([])

    /// Sessions of one database.
    public init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Keeps a session and gives out its token: the only time that the token is known.
    public func open(_ session: Session) async throws -> String {
        let token = SessionToken.make()
        try await database.write { db in
            try db.execute(
                sql: "INSERT INTO session (token_hash, app, kind, account, name, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    SessionToken.hash(token), session.app, session.kind.rawValue, session.account, session.name,
                    Int64(session.createdAt.timeIntervalSince1970 * 1000),
                ]
            )
        }
        return token
    }

    /// The session that a request belongs to. 401 `session-required` without a token, `session-expired` with one that
    /// is not known (any more) to this app.
    public func session(for headerFields: HTTPFields, app: String) throws -> Session {
        guard let token = try SessionToken.bearer(in: headerFields[values: .authorization]) else {
            throw Problem(
                .sessionRequired,
                "Open a session with POST /v1/\(app)/session and send its token as Authorization: Bearer."
            )
        }
        guard let session = try session(token: token), session.app == app else {
            throw Problem(.sessionExpired, "This token opens no session of \(app); it may have been logged out.")
        }
        return session
    }

    /// The session of ours whose token any of these `Authorization` values carries, whichever app's.
    func ownSession(_ authorization: [String]) throws -> Session? {
        for value in authorization {
            if let token = Self.anyToken(in: value), let session = try session(token: token) { return session }
        }
        return nil
    }

    /// For how long ``ownSession(_:)`` says of these values what it says now. To be taken before it.
    func changeToken(ofOwn authorization: [String]) -> ChangeToken {
        authorization.reduce(.unlimited) { changeToken, value in
            guard let token = Self.anyToken(in: value) else { return changeToken }
            return changeToken.and(ChangeToken(of: ends[SessionToken.hash(token)]))
        }
    }

    /// What stands behind the scheme, whichever it is: a token of ours goes nowhere under another name either.
    private static func anyToken(in authorization: String) -> String? {
        authorization.split(separator: " ", omittingEmptySubsequences: true).last.map(String.init)
    }

    /// Ends the session that a request belongs to.
    public func close(for headerFields: HTTPFields) async throws {
        guard let token = try SessionToken.bearer(in: headerFields[values: .authorization]) else { return }
        defer { ended(SessionToken.hash(token)) }
        try await database.write { db in
            try db.execute(sql: "DELETE FROM session WHERE token_hash = ?", arguments: [SessionToken.hash(token)])
        }
    }

    /// Ends all sessions of an account of an app, in the transaction that removes what belongs to it.
    public func close(app: String, account: String, in db: Database) throws {
        let hashes = try Data.fetchAll(
            db,
            sql: "DELETE FROM session WHERE app = ? AND account = ? RETURNING token_hash",
            arguments: [app, account]
        )
        db.afterNextTransaction { _ in
            for hash in hashes { ended(hash) }
        }
    }

    /// The session that a request belongs to, if there is one; for routes that response differently with one, and do not
    /// require it.
    public func knownSession(for headerFields: HTTPFields, app: String) throws -> Session? {
        guard let token = try? SessionToken.bearer(in: headerFields[values: .authorization]) else { return nil }
        return try session(token: token).flatMap { $0.app == app ? $0 : nil }
    }

    private func ended(_ tokenHash: Data) {
        ends[tokenHash].bump()
        for told in endings.withLockedValue({ $0 }) { told() }
    }

    /// Registers somebody to be told after a session has ended, whichever.
    func onEnd(_ told: @escaping @Sendable () -> Void) {
        endings.withLockedValue { $0.append(told) }
    }

    /// For how long a request with these credentials has the session that it has now. To be taken before
    /// ``session(for:app:)``.
    func changeToken(for headerFields: HTTPFields) -> ChangeToken {
        guard let token = try? SessionToken.bearer(in: headerFields[values: .authorization]) else { return .unlimited }
        return ChangeToken(of: ends[SessionToken.hash(token)])
    }

    fileprivate func session(token: String) throws -> Session? {
        try database.read { db in
            try Row.fetchOne(
                try db.cachedStatement(
                    sql: "SELECT app, kind, account, name, created_at FROM session WHERE token_hash = ?"
                ),
                arguments: [SessionToken.hash(token)]
            ).map { row in
                Session(
                    app: row[0],
                    kind: row[1] == Session.Kind.guest.rawValue ? .guest : .user,
                    account: row[2],
                    name: row[3],
                    createdAt: Date(timeIntervalSince1970: Double(row[4] as Int64) / 1000)
                )
            }
        }
    }
}

extension SessionStore {
    /// Whose events a listener hears: everybody's, and with a token those of its account. 401 with a token that is not
    /// known.
    func audience(for headerFields: HTTPFields) throws -> EventAudience {
        guard let token = try SessionToken.bearer(in: headerFields[values: .authorization]) else {
            return EventAudience(session: nil) { true }
        }
        guard let session = try session(token: token) else {
            throw Problem(.sessionExpired, "This token opens no session.")
        }
        return EventAudience(session: session) { try self.session(token: token) != nil }
    }
}
