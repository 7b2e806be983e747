import Database
import Foundation
import GRDB
import ResponseStore
import Upstream

// The copies of accounts that servers share. What is cached of an account belongs to its copy.
extension DiskStore {
    /// An account as servers share it, with all of its logins.
    struct SharedAccount: Sendable {
        var id: String
        var name: String?
        var linkedAt: Int64
        var space: DiskSpace
        var epoch: Int64
        var logins: [SharedLogin]
    }

    struct SharedLogin: Sendable, Equatable {
        var login: DiskLogin
        var createdAt: Int64
    }

    /// Brings the copy of an account up to date. What is cached of an account that was logged out since is removed,
    /// also if it is logged in again; after a change by another server it must be revalidated.
    ///
    /// - Returns: Whether anything has changed.
    func follow(_ shared: SharedAccount) async throws -> Bool {
        if try isUpToDate(shared) { return false }
        try await database.writeFreeingRoom { [self] db in
            let known = try Self.copy(of: shared.id, db)
            if let known, known.linked != shared.linkedAt {
                try forget(shared.id, db)
            } else if let known, known.epoch < shared.epoch {
                try responses.invalidate(credential: credential(of: shared.id), in: db)
                db.afterNextTransaction { [changeLogs] _ in
                    changeLogs.forget(shared.id, owner: Self.owner(shared.id))
                }
            }
            let space = shared.space
            try db.execute(
                sql: Self.upsertCopy,
                arguments: [
                    shared.id, shared.name, shared.linkedAt, space.total, space.used, space.trash, shared.epoch,
                ]
            )
            try db.execute(sql: "DELETE FROM disk_login WHERE account = ?", arguments: [shared.id])
            for login in shared.logins {
                try db.execute(
                    sql: Self.insertCopy,
                    arguments: [
                        login.login.session, shared.id, login.login.token, login.login.isRejected, login.createdAt,
                    ]
                )
            }
            bump(shared.id, after: db)
        }
        return true
    }

    /// Removes what is here of an account that was logged out on another server.
    func forget(account id: String) async throws {
        guard try copies()[id] != nil else { return }
        try await database.writeErasing { [self] db in try forget(id, db) }
    }

    private func forget(_ id: String, _ db: Database) throws {
        try wipe(id, db)
        forgotten.send(id, after: db)
    }

    /// Whether accounts have tokens here: then they are no copies, but logins of a server that shares nothing.
    func hasTokens() throws -> Bool {
        try database.read { db in
            let sql = "SELECT EXISTS (SELECT 1 FROM disk_login JOIN sealed_secret ON name = token)"
            return try Bool.fetchOne(db, sql: sql) ?? false
        }
    }

    /// The accounts that are here, and when each was linked.
    func copies() throws -> [String: Int64] {
        try database.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT account, linked_at FROM disk_account")
            return try Dictionary(rows.map { try ($0.value(0), $0.value(1)) }) { first, _ in first }
        }
    }

    private static func copy(of id: String, _ db: Database) throws -> (name: String?, linked: Int64, epoch: Int64)? {
        try Row.fetchOne(try db.cachedStatement(sql: selectCopy), arguments: [id]).map {
            try (name: $0.value(0), linked: $0.value(1), epoch: $0.value(2))
        }
    }

    /// Whether the copy of an account is as it is shared.
    func isUpToDate(_ shared: SharedAccount) throws -> Bool { try database.read { try Self.isUpToDate(shared, $0) } }

    private static func isUpToDate(_ shared: SharedAccount, _ db: Database) throws -> Bool {
        guard let copy = try copy(of: shared.id, db), copy.linked == shared.linkedAt, copy.epoch >= shared.epoch,
            copy.name == shared.name
        else { return false }
        let logins = try Row.fetchAll(try db.cachedStatement(sql: selectCopiedLogins), arguments: [shared.id]).map {
            try SharedLogin(
                login: DiskLogin(session: $0.value(0), token: $0.value(1), isRejected: $0.value(2)),
                createdAt: $0.value(3)
            )
        }
        return logins == shared.logins
    }

    private static let selectCopy = "SELECT name, linked_at, epoch FROM disk_account WHERE account = ?"
    private static let selectCopiedLogins = """
        SELECT session, token, rejected, created_at FROM disk_login WHERE account = ? ORDER BY session
        """
    // Its space is that of the last response of the API to this server.
    private static let upsertCopy = """
        INSERT INTO disk_account (account, name, linked_at, total, used, trash, epoch, revision)
        VALUES (?, ?, ?, ?, ?, ?, ?, 0)
        ON CONFLICT (account) DO UPDATE SET name = excluded.name, epoch = max(epoch, excluded.epoch)
        """
    private static let insertCopy =
        "INSERT INTO disk_login (session, account, token, rejected, created_at) VALUES (?, ?, ?, ?, ?)"
}
