import Database
public import GRDB
import HTTPSemantics

/// Sessions whose tokens a test has chosen. They exist as long as the server is under test.
extension SessionStore {
    /// Stores a session under a token that a test has chosen, in the transaction that stores what belongs to it.
    ///
    /// - Returns: The identity of the session.
    /// - Throws: 422 with the pointer `/token` if it cannot be one, or opens a session already; GRDB's errors.
    @discardableResult
    public func seed(_ session: Session, token: String, in db: Database) throws -> String {
        guard token.utf8.count <= 512, BearerToken.parse("Bearer \(token)") == token else {
            throw Self.invalidToken("invalid", "A token has up to 512 letters, digits and -._~+/, and = at its end.")
        }
        let sql = "SELECT 1 FROM session WHERE token_hash = ?"
        guard try Int.fetchOne(db, sql: sql, arguments: [SessionToken.hash(token)]) == nil else {
            throw Self.invalidToken("taken", "This token opens a session already.")
        }
        return try insert(session, token, for: .bearer, isSeeded: true, in: db).id
    }

    /// Ends the sessions whose tokens a test has chosen: anyone could know them.
    /// - Throws: `StorageError`.
    public func endSeeded() throws {
        let hasAny = try database.read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM session WHERE seeded = 1)") ?? false
        }
        guard hasAny else { return }
        try database.write { try $0.execute(sql: "DELETE FROM session WHERE seeded = 1") }
    }

    private static func invalidToken(_ code: String, _ detail: Text) -> Problem {
        .validation([.field("/token", code, detail)])
    }
}
