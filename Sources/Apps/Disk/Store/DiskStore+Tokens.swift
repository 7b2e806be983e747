import Database
import Foundation
import GRDB

extension DiskStore {
    /// Returns the token of a login; nil if it was logged out.
    func token(named name: String) throws -> DiskToken? {
        try database.read { try token(named: name, $0) }
    }

    private func token(named name: String, _ db: Database) throws -> DiskToken? {
        try secrets.secret(name: name, in: db).map { try JSONDecoder().decode(DiskToken.self, from: $0) }
    }

    /// Returns the tokens of all logins of an account.
    func tokens(of account: String) throws -> [DiskToken] {
        try database.read { db in
            try Self.tokenNames(of: account, db).compactMap { try token(named: $0, db) }
        }
    }

    static func tokenNames(of account: String, _ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT DISTINCT token FROM disk_login WHERE account = ?", arguments: [account])
    }

    /// Replaces a token by a refreshed one.
    ///
    /// - Returns: False if the old token is not stored any more: the account was logged out meanwhile.
    func replace(_ old: DiskToken, by new: DiskToken, named name: String) async throws -> Bool {
        let sealed = try JSONEncoder().encode(new)
        // Also on a full disk: the API may have revoked the old one.
        return try await database.writeFreeingRoom { [self] db in
            guard try token(named: name, db) == old else { return false }
            try secrets.store(sealed, name: name, in: db)
            return true
        }
    }

    /// Records whether the API refuses the token of a login. Other logins of the account are not affected.
    func setRejected(_ isRejected: Bool, of account: DiskAccount) async throws {
        // Also on a full disk: what is stored would be shown to the sessions of a token that was revoked.
        try await database.writeFreeingRoom { [self] db in
            try db.cachedStatement(sql: Self.setRejected)
                .execute(arguments: [isRejected, account.login.token, isRejected])
            if db.changesCount > 0 { bump(account.id, after: db) }
        }
    }

    static let setRejected = "UPDATE disk_login SET rejected = ? WHERE token = ? AND rejected <> ?"
}
