import Crypto
import Database
import Foundation
import GRDB
import HTTPTypes
import ResponseStore
import Screens
import Upstream

extension DiskStore {
    private static func secretName(_ account: String) -> String { "disk/token/\(account)" }

    func account(_ id: String) throws -> DiskAccount? {
        try database.read { try Self.account(id, $0) }
    }

    static func account(_ id: String, _ db: Database) throws -> DiskAccount? {
        try Row.fetchOne(try db.cachedStatement(sql: selectAccount), arguments: [id]).map { row in
            DiskAccount(
                id: row["account"],
                name: row["name"],
                linkedAt: Date(millisecondsSince1970: row["linked_at"]),
                space: DiskSpace(total: row["total"], used: row["used"], trash: row["trash"]),
                epoch: row["epoch"],
                revision: row["revision"],
                isRejected: row["rejected"]
            )
        }
    }

    static let selectAccount = "SELECT * FROM disk_account WHERE account = ?"

    /// Stores an account and its token, which replaces the one that it had.
    func link(_ id: String, name: String?, _ space: DiskSpace, _ token: DiskToken, at now: Date) async throws {
        let sealed = try JSONEncoder().encode(token)
        try await database.write { [self] db in
            try db.execute(
                sql: """
                    INSERT INTO disk_account
                        (account, name, linked_at, total, used, trash, epoch, revision, rejected)
                    VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)
                    ON CONFLICT (account) DO UPDATE SET
                        name = excluded.name, total = excluded.total, used = excluded.used,
                        trash = excluded.trash, rejected = 0
                    """,
                arguments: [
                    id, name, now.millisecondsSince1970, space.total, space.used, space.trash,
                    Int64.random(in: 1...(Int64.max / 2)),
                ]
            )
            try secrets.store(sealed, name: Self.secretName(id), in: db)
            bump(id, after: db)
        }
    }

    func token(of account: String) throws -> DiskToken? {
        try database.read { db in
            try secrets.secret(name: Self.secretName(account), in: db).map {
                try JSONDecoder().decode(DiskToken.self, from: $0)
            }
        }
    }

    /// Replaces a token by a refreshed one.
    ///
    /// - Returns: False if the old token is not stored any more: the account was logged out or logged in again
    ///   meanwhile.
    func replace(_ old: DiskToken, by new: DiskToken, of account: String) async throws -> Bool {
        let sealed = try JSONEncoder().encode(new)
        return try await database.write { [self] db in
            let name = Self.secretName(account)
            guard let present = try secrets.secret(name: name, in: db),
                try JSONDecoder().decode(DiskToken.self, from: present) == old
            else { return false }
            try secrets.store(sealed, name: name, in: db)
            return true
        }
    }

    /// Records whether the API refuses the account's token.
    func setRejected(_ isRejected: Bool, account: String) async throws {
        try await database.write { [self] db in
            try db.execute(
                sql: "UPDATE disk_account SET rejected = ? WHERE account = ? AND rejected <> ?",
                arguments: [isRejected, account, isRejected]
            )
            if db.changesCount > 0 { bump(account, after: db) }
        }
    }

    /// Returns the update of an account's space, for the transaction that stores the response.
    func persistRows(of space: DiskSpace, account: String) -> Resource.PersistRows {
        { [self] db in
            try db.execute(
                sql: "UPDATE disk_account SET total = ?, used = ?, trash = ?, rejected = 0 WHERE account = ?",
                arguments: [space.total, space.used, space.trash, account]
            )
            guard db.changesCount > 0 else { throw UpstreamError.notStored }  // logged out meanwhile
            bump(account, after: db)
        }
    }

    /// Removes all data of an account: token, rows, lists, stored responses and bodies, jobs, sessions.
    func wipe(_ account: String, sessions: SessionStore) async throws {
        let credential = credential(of: account)
        try await database.write { [self] db in
            try sessions.close(app: "disk", account: account, in: db)
            try secrets.remove(name: Self.secretName(account), in: db)
            for table in ["disk_account", "disk_item", "disk_download", "disk_operation"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE account = ?", arguments: [account])
            }
            try pages.remove(account: Self.owner(account), in: db)
            try responses.remove(credential: credential, in: db)
            db.afterNextTransaction { [changeLogs] _ in changeLogs.forget(account, owner: Self.owner(account)) }
            bump(account, after: db)
        }
    }
}

// Logins that have begun in a browser (RFC 7636: the verifier stays here until the code comes).
extension DiskStore {
    /// Seconds that a login in the browser may take; the code expires after the same time.
    private static let authorizationLifetime: TimeInterval = 600

    private static func key(of state: String) -> String { SessionToken.hash(state).base64EncodedString() }

    func beginAuthorization(state: String, verifier: String, at now: Date) async throws {
        let key = Self.key(of: state)
        try await database.write { [self] db in
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
        return try await database.write { [self] db in
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
