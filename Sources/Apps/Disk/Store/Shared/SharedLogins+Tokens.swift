import AppInterface
import Database
import Foundation
import Freshness
import Screens
import SharedStore

extension SharedLogins {
    private enum Refresh: Sendable {
        /// The account was logged out.
        case gone
        /// Another server, or another request, has it done.
        case done(DiskToken)
        /// Another server does it now.
        case elsewhere
        case begun
    }

    /// How long a server may take for a refresh: longer than any request to OAuth.
    private static let lease: Duration = .seconds(60)
    /// Between two looks whether another server has refreshed a token.
    private static let pause: Duration = .milliseconds(100)
    /// How often a new token is tried to be stored, within the lease.
    private static let tries = 200

    func token(named name: String) async throws -> DiskToken? {
        try await database.rows("SELECT sealed FROM sealed_secret WHERE name = $1", [name]) { [seal] row in
            try JSONDecoder().decode(DiskToken.self, from: try seal.open(row.value("sealed"), name: name))
        }.first
    }

    static func token(named name: String, _ seal: SharedSeal, _ transaction: SQLTransaction) throws -> DiskToken? {
        try seal.secret(name: name, transaction).map { try JSONDecoder().decode(DiskToken.self, from: $0) }
    }

    func refresh(_ old: DiskToken, named name: String, _ grant: @Sendable () async throws -> DiskToken) async throws
        -> DiskToken?
    {
        let holder = SessionToken.make()
        while true {
            switch try await begin(old, name, holder) {
            case .gone: return nil
            case .done(let token): return token
            case .elsewhere: try await shared.clock.sleep(Self.pause)
            case .begun:
                let fresh: DiskToken
                do { fresh = try await grant() } catch {
                    // Else the others wait until its time is over.
                    try? await shared.leases.release(name, by: holder)
                    throw error
                }
                return try await end(old, by: fresh, name, holder) ? fresh : nil
            }
        }
    }

    private func begin(_ old: DiskToken, _ name: String, _ holder: String) async throws -> Refresh {
        try await database.write(turns: [name]) { [seal] transaction in
            guard let present = try Self.token(named: name, seal, transaction) else { return .gone }
            guard present == old else { return .done(present) }
            return try SharedLeases.take(name, for: holder, lasting: Self.lease, transaction) ? .begun : .elsewhere
        }
    }

    /// Stores the new token. The old one is used up: while the store is away, it is tried again for some time.
    private func end(_ old: DiskToken, by fresh: DiskToken, _ name: String, _ holder: String) async throws -> Bool {
        var tries = Self.tries
        while true {
            do {
                return try await replace(old, by: fresh, name, holder)
            } catch let error as SharedStoreError where error.isPassing && tries > 0 {
                tries -= 1
                try await shared.clock.sleep(Self.pause)
            }
        }
    }

    private func replace(_ old: DiskToken, by fresh: DiskToken, _ name: String, _ holder: String) async throws -> Bool {
        let secret = try JSONEncoder().encode(fresh)
        return try await database.write(turns: [name]) { [seal] transaction in
            try SharedLeases.release(name, by: holder, transaction)
            let present = try Self.token(named: name, seal, transaction)
            // A commit with an unknown outcome may have stored it.
            if present == fresh { return true }
            guard present == old else { return false }
            return try seal.replace(secret, name: name, transaction)
        }
    }

    func setRejected(_ isRejected: Bool, of account: DiskAccount) async throws {
        let token = account.login.token
        try await database.write(turns: [Self.turn(account.id)]) { transaction in
            let sql = "UPDATE disk_login SET rejected = $1 WHERE token = $2 AND rejected <> $1"
            try transaction.execute(sql, [isRejected, token])
        }
        try await cache.setRejected(isRejected, of: account)
    }

    // MARK: Logins that have begun in a browser

    func beginAuthorization(state: String, verifier: String, at now: Date) async throws {
        let key = DiskStore.key(of: state)
        let limit = now.addingTimeInterval(-DiskStore.authorizationLifetime).millisecondsSince1970
        try await database.write(turns: ["disk/authorization"]) { [seal] transaction in
            let old = try transaction.rows(
                "DELETE FROM disk_authorization WHERE created_at < $1 RETURNING state",
                [limit]
            ).map { "disk/authorization/\(try $0.value("state") as String)" }
            try seal.remove(old, transaction)
            try transaction.execute(
                "INSERT INTO disk_authorization (state, created_at) VALUES ($1, $2)",
                [key, now.millisecondsSince1970]
            )
            try seal.store(Data(verifier.utf8), name: "disk/authorization/\(key)", transaction)
        }
    }

    func endAuthorization(state: String, at now: Date) async throws -> String? {
        let key = DiskStore.key(of: state)
        let limit = now.addingTimeInterval(-DiskStore.authorizationLifetime).millisecondsSince1970
        return try await database.write(turns: ["disk/authorization"]) { [seal] transaction -> String? in
            let name = "disk/authorization/\(key)"
            let verifier = try seal.secret(name: name, transaction)
            try seal.remove([name], transaction)
            let begun: Int64? = try transaction.rows(
                "DELETE FROM disk_authorization WHERE state = $1 RETURNING created_at",
                [key]
            ).first?.value("created_at")
            guard let begun, begun >= limit else { return nil }
            return verifier.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension SharedStoreError {
    /// Whether a later try may succeed.
    fileprivate var isPassing: Bool {
        switch self {
        case .unavailable, .outcomeUnknown: true
        default: false
        }
    }
}
