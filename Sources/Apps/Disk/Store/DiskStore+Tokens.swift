import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

extension DiskStore {
    /// Returns the token of a login; nil if it was logged out.
    func token(named name: String) throws -> DiskToken? {
        try database.read { try token(named: name, $0) }
    }

    func token(named name: String, _ db: Database) throws -> DiskToken? {
        try secrets.secret(name: name, in: db).map { try JSONDecoder().decode(DiskToken.self, from: $0) }
    }

    static func tokenNames(of account: String, _ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT DISTINCT token FROM disk_login WHERE account = ?", arguments: [account])
    }

    /// Replaces a token by the one that it is granted for, once: a simultaneous request for the same token gets that
    /// one, too.
    ///
    /// - Parameter grant: Requests the new token. It is called at most once.
    /// - Returns: The new token; nil if the account was logged out meanwhile.
    /// - Throws: Errors of `grant` and of the store.
    func refresh(
        _ old: DiskToken,
        named name: String,
        of account: String,
        _ grant: @Sendable () async throws -> DiskToken
    ) async throws -> DiskToken? {
        let lease = try await lease(name)
        do {
            let present = try await latestToken(named: name, of: account)
            guard present == old else {
                try await users.leases.release([lease])
                return present
            }
            let fresh = try await grant()
            let isStored = try await store(fresh, named: name, of: account, inPlaceOf: old)
            // Else the others wait until its time is over.
            try? await users.leases.release([lease])
            return isStored ? fresh : nil
        } catch {
            try? await users.leases.release([lease])
            throw error
        }
    }

    /// Waits until no other server refreshes a token.
    private func lease(_ name: String) async throws -> Lease {
        while true {
            if let lease = try await users.leases.take(name, lasting: Self.refreshTime) { return lease }
            try await clock.sleep(Self.refreshPause)
        }
    }

    /// Returns the token as the last server has left it.
    private func latestToken(named name: String, of account: String) async throws -> DiskToken? {
        guard users.isShared else { return try token(named: name) }
        return try await users.write(scope: Self.scope(account)) { [self] in try token(named: name, $0) }
    }

    /// Stores a new token. The old one is used up: while PostgreSQL does not respond, it is tried again for some time.
    private func store(
        _ fresh: DiskToken,
        named name: String,
        of account: String,
        inPlaceOf old: DiskToken
    ) async throws -> Bool {
        let secret = try JSONEncoder().encode(fresh)
        var tries = Self.refreshTries
        while true {
            do {
                // Also on a full disk: the API may have revoked the old one.
                return try await users.write(scope: Self.scope(account), deleting: .toTrash) { [self] db in
                    let present = try token(named: name, db)
                    // A commit with an unknown outcome may have stored it.
                    if present == fresh { return true }
                    guard present == old else { return false }
                    try secrets.store(secret, name: name, in: db)
                    return true
                }
            } catch let error as ClusterError where UserDatabase.isTemporary(error) && tries > 0 {
                tries -= 1
                try await clock.sleep(Self.refreshPause)
            }
        }
    }

    /// How long a server may take for a refresh: longer than any request to OAuth.
    private static let refreshTime: Duration = .seconds(60)
    /// Between two looks whether another server has refreshed a token, and two tries to store one.
    private static let refreshPause: Duration = .milliseconds(100)
    private static let refreshTries = 200

    /// Records whether the API refuses the token of a login. Other logins of the account are not affected.
    func setRejected(_ isRejected: Bool, of account: DiskAccount) async throws {
        // Also on a full disk: stored data would be shown to the sessions of a token that was revoked.
        try await users.write(scope: Self.scope(account.id), deleting: .toTrash) { [self] db in
            if try Self.setRejected(isRejected, of: account, db) { bump(account.id, after: db) }
        }
    }

    @discardableResult
    static func setRejected(_ isRejected: Bool, of account: DiskAccount, _ db: Database) throws -> Bool {
        let sql = "UPDATE disk_login SET rejected = ? WHERE account = ? AND token = ? AND rejected <> ?"
        try db.cachedStatement(sql: sql)
            .execute(arguments: [isRejected, account.id, account.login.token, isRejected])
        return db.changesCount > 0
    }
}

// Logins that have begun in a browser (RFC 7636: the verifier stays here until the code arrives).
extension DiskStore {
    /// Seconds that a login in the browser may take; the code expires after the same time.
    static let authorizationLifetime: TimeInterval = 600

    private static let authorizations = "disk/authorization"

    static func key(of state: String) -> String { SessionToken.hash(state).base64EncodedString() }

    func beginAuthorization(state: String, verifier: String, at now: Date) async throws {
        let key = Self.key(of: state)
        try await users.write(scope: Self.authorizations) { [self] db in
            let limit = now.addingTimeInterval(-Self.authorizationLifetime).millisecondsSince1970
            for old in try String.fetchAll(
                db,
                sql: "DELETE FROM disk_authorization WHERE created_at < ? RETURNING state",
                arguments: [limit]
            ) {
                try secrets.remove(name: "disk/authorization/\(old)", in: db)
            }
            try db.execute(
                sql: "INSERT INTO disk_authorization (state, created_at) VALUES (?, ?)",
                arguments: [key, now.millisecondsSince1970]
            )
            try secrets.store(Data(verifier.utf8), name: "disk/authorization/\(key)", in: db)
        }
    }

    /// Returns the verifier of a login that has begun, once; nil if the state is unknown, expired or used.
    func endAuthorization(state: String, at now: Date) async throws -> String? {
        let key = Self.key(of: state)
        return try await users.write(scope: Self.authorizations) { [self] db in
            let limit = now.addingTimeInterval(-Self.authorizationLifetime).millisecondsSince1970
            let name = "disk/authorization/\(key)"
            let verifier = try secrets.secret(name: name, in: db)
            try secrets.remove(name: name, in: db)
            let isKnown = try Int64.fetchOne(
                db,
                sql: "DELETE FROM disk_authorization WHERE state = ? RETURNING created_at",
                arguments: [key]
            )
            guard let begun = isKnown, begun >= limit else { return nil }
            return verifier.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
