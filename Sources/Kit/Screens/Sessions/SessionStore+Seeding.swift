package import GRDB
import HTTPSemantics

/// Sessions whose tokens a test has chosen. They exist as long as the server is under test.
extension SessionStore {
    /// Stores a session under a token that a test has chosen, in the transaction that stores what belongs to it.
    ///
    /// - Returns: The identity of the session.
    /// - Throws: 422 with the pointer `/token` if it cannot be one, or opens a session already; GRDB's errors.
    @discardableResult
    package func seed(_ session: Session, token: String, in db: Database) throws -> String {
        guard (1...512).contains(token.utf8.count), Self.isToken68(token) else {
            throw Self.invalidToken("invalid", "A token has up to 512 letters, digits and -._~+/, and = at its end.")
        }
        let sql = "SELECT 1 FROM session WHERE token_hash = ?"
        guard try Int.fetchOne(db, sql: sql, arguments: [SessionToken.hash(token)]) == nil else {
            throw Self.invalidToken("duplicate", "This token opens a session already.")
        }
        return try insert(session, token, for: .bearer, isSeeded: true, in: db).id
    }

    /// Ends the sessions whose tokens a test has chosen: anyone could know them.
    /// - Throws: `StorageError`.
    package func endSeeded() throws {
        try table.removeSeeded()
    }

    /// Whether a text is a token as `Authorization` has them (RFC 6750 §2.1).
    private static func isToken68(_ text: String) -> Bool {
        let body = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !body.isEmpty && body.allSatisfy { ASCIISet.alphanumerics.contains($0) || "-._~+/".utf8.contains($0) }
    }

    private static func invalidToken(_ code: String, _ detail: Text) -> Problem {
        .validation([.field("/token", code, detail)])
    }
}
