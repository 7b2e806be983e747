package import Database
import Foundation
package import GRDB
import HTTPSemantics

/// Where sessions are stored. Each function is one transaction.
///
/// Data that ends with a session is removed in the same transaction if it is in the server's own database.
protocol SessionTable: Sendable {
    /// Returns the session of a token; nil if it was not used since.
    func session(_ tokenHash: Data, usedSince oldest: Int64) async throws -> Session?

    func insert(_ session: Session, _ tokenHash: Data) async throws

    /// Ends a session.
    func remove(_ tokenHash: Data) async throws

    /// Writes when sessions were used, exact to the day.
    func storeUses(_ uses: [Data: Date]) async throws

    /// Ends sessions of an app that were not used since, with their data.
    ///
    /// - Returns: them, with the hashes of their tokens; none if there are no more.
    func removeUnused(
        of app: String,
        since oldest: Int64,
        _ limit: Int,
        _ data: SessionStore.ExpiredData
    ) async throws -> [(hash: Data, expired: SessionStore.Expired)]

    /// Ends the sessions whose tokens a test has chosen.
    func removeSeeded() throws
}

extension SessionTable {
    /// Milliseconds within which further uses are not written.
    static var resolution: Int64 { 86_400_000 }
}

/// The sessions in the server's own database.
struct LocalSessions: SessionTable {
    let database: LarderDatabase

    func session(_ tokenHash: Data, usedSince oldest: Int64) throws -> Session? {
        try database.read { db in
            try Row.fetchOne(
                try db.cachedStatement(
                    sql: """
                        SELECT app, kind, account, name, created_at FROM session
                        WHERE token_hash = ? AND used_at >= ?
                        """
                ),
                arguments: [tokenHash, oldest]
            ).map { row in
                try Session(
                    app: row.value(0),
                    kind: row.value(1) == Session.Kind.guest.rawValue ? .guest : .user,
                    account: row.value(2),
                    name: row.value(3),
                    createdAt: row.date(4),
                    id: SessionStore.id(of: tokenHash)
                )
            }
        }
    }

    func insert(_ session: Session, _ tokenHash: Data) async throws {
        try await database.write { try Self.insert(session, tokenHash, $0) }
    }

    static func insert(_ session: Session, _ tokenHash: Data, isSeeded: Bool = false, _ db: GRDB.Database) throws {
        try db.execute(
            sql: """
                INSERT INTO session (token_hash, app, kind, account, name, created_at, used_at, seeded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                tokenHash, session.app, session.kind.rawValue, session.account, session.name,
                session.createdAt.millisecondsSince1970, session.createdAt.millisecondsSince1970, isSeeded,
            ]
        )
    }

    func remove(_ tokenHash: Data) async throws {
        try await database.writeErasing { db in
            try db.execute(sql: "DELETE FROM session WHERE token_hash = ?", arguments: [tokenHash])
        }
    }

    func storeUses(_ uses: [Data: Date]) async throws {
        try await database.writeFreeingRoom { db in
            let statement = try db.cachedStatement(sql: Self.updateUse)
            for (hash, time) in uses {
                let now = time.millisecondsSince1970
                try statement.execute(arguments: ["now": now, "hash": hash, "before": now - Self.resolution])
            }
        }
    }

    func removeUnused(
        of app: String,
        since oldest: Int64,
        _ limit: Int,
        _ data: SessionStore.ExpiredData
    ) async throws -> [(hash: Data, expired: SessionStore.Expired)] {
        // Most often there is none, and a writer would hold up others.
        let hasUnused = try database.read { db in
            try Int.fetchOne(try db.cachedStatement(sql: Self.selectUnused), arguments: [app, oldest]) != nil
        }
        guard hasUnused else { return [] }
        return try await database.writeErasing { db in
            let rows = try Row.fetchAll(db, sql: Self.deleteUnused, arguments: [app, oldest, limit])
            return try rows.map { row in
                let (hash, account): (Data, String) = try (row.value(0), row.value(1))
                let other = try Int.fetchOne(
                    try db.cachedStatement(sql: Self.selectOther),
                    arguments: [app, account]
                )
                let id = SessionStore.id(of: hash)
                let expired = SessionStore.Expired(id: id, account: account, isLast: other == nil)
                try data.remove(expired, db)
                return (hash, expired)
            }
        }
    }

    func removeSeeded() throws {
        let hasAny = try database.read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM session WHERE seeded = 1)") ?? false
        }
        guard hasAny else { return }
        try database.write { try $0.execute(sql: "DELETE FROM session WHERE seeded = 1") }
    }

    static let updateUse = "UPDATE session SET used_at = :now WHERE token_hash = :hash AND used_at < :before"
    static let selectUnused = "SELECT 1 FROM session WHERE app = ? AND used_at < ? LIMIT 1"
    static let deleteUnused = """
        DELETE FROM session WHERE token_hash IN (
            SELECT token_hash FROM session WHERE app = ? AND used_at < ? LIMIT ?
        ) RETURNING token_hash, account
        """
    private static let selectOther = "SELECT 1 FROM session WHERE app = ? AND account = ? LIMIT 1"
}

extension SessionStore {
    package static let migrations: [SchemaMigration] = [
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
        },
        SchemaMigration(
            "sessions/002 uses",
            sql: """
                ALTER TABLE session ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0; -- milliseconds since 1970 UTC
                UPDATE session SET used_at = unixepoch() * 1000;
                CREATE INDEX session_by_use ON session (app, used_at);
                """
        ),
        SchemaMigration(
            "sessions/003 seeded",
            sql: """
                ALTER TABLE session ADD COLUMN seeded INTEGER NOT NULL DEFAULT 0; -- whether a test has chosen the token
                CREATE INDEX session_seeded ON session (seeded) WHERE seeded = 1;
                """
        ),
    ]
}

/// Sessions whose tokens a test has chosen. They exist as long as the server is under test.
extension SessionStore {
    /// Stores a session under a token that a test has chosen, in the transaction that stores its data.
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
