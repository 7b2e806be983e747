import Database
import Foundation
import GRDB

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
    ) async throws -> [Data] {
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
                try data.remove(SessionStore.Expired(id: id, account: account, isLast: other == nil), db)
                return hash
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
