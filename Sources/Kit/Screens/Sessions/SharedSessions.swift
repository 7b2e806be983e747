import Database
import Foundation
package import SharedStore

/// The sessions in a store that several servers share.
struct SharedSessions: SessionTable {
    let database: SharedDatabase

    func session(_ tokenHash: Data, usedSince oldest: Int64) async throws -> Session? {
        let sql = "SELECT app, kind, account, name, created_at FROM session WHERE token_hash = $1 AND used_at >= $2"
        return try await database.rows(sql, [tokenHash, oldest]) { row in
            Session(
                app: try row.value("app"),
                kind: Session.Kind(rawValue: try row.value("kind")) ?? .user,
                account: try row.value("account"),
                name: try row.value("name"),
                createdAt: Date(millisecondsSince1970: try row.value("created_at")),
                id: SessionStore.id(of: tokenHash)
            )
        }.first
    }

    func insert(_ session: Session, _ tokenHash: Data) async throws {
        // The hash of 256 random bits is unique: the turn is its own.
        try await database.write(turns: [SessionStore.id(of: tokenHash)]) { transaction in
            try Self.insert(session, tokenHash, transaction)
        }
    }

    static func insert(_ session: Session, _ tokenHash: Data, _ transaction: SQLTransaction) throws {
        let now = session.createdAt.millisecondsSince1970
        try transaction.execute(
            """
            INSERT INTO session (token_hash, app, kind, account, name, created_at, used_at)
            VALUES ($1, $2, $3, $4, $5, $6, $6)
            """,
            [tokenHash, session.app, session.kind.rawValue, session.account, session.name, now]
        )
    }

    func remove(_ tokenHash: Data) async throws {
        try await database.write(turns: [SessionStore.id(of: tokenHash)]) { transaction in
            try transaction.execute("DELETE FROM session WHERE token_hash = $1", [tokenHash])
        }
    }

    /// Ends the sessions of an account.
    ///
    /// - Parameter kept: the hash of the token of the one that stays.
    /// - Returns: the hashes of their tokens.
    static func remove(_ app: String, _ account: String, except kept: Data?, _ transaction: SQLTransaction) throws
        -> [Data]
    {
        try transaction.rows(
            """
            DELETE FROM session WHERE app = $1 AND account = $2 AND token_hash IS DISTINCT FROM $3
            RETURNING token_hash
            """,
            [app, account, kept]
        ).map { try $0.value("token_hash") }
    }

    func storeUses(_ uses: [Data: Date]) async throws {
        let (ids, times) = (uses.keys.map(SessionStore.id(of:)), uses.values.map { Int($0.millisecondsSince1970) })
        try await database.write(turns: [Self.maintenance]) { transaction in
            try transaction.execute(
                """
                UPDATE session SET used_at = used.at FROM unnest($1, $2) AS used (id, at)
                WHERE token_hash = decode(used.id, 'hex') AND used_at < used.at - $3
                """,
                [ids, times, Self.resolution]
            )
        }
    }

    func removeUnused(
        of app: String,
        since oldest: Int64,
        _ limit: Int,
        _ data: SessionStore.ExpiredData
    ) async throws -> [(hash: Data, expired: SessionStore.Expired)] {
        try await database.write(turns: [Self.maintenance]) { transaction in
            let ended = try transaction.rows(Self.deleteUnused, [app, oldest, limit]).map { row in
                (hash: try row.value("token_hash") as Data, account: try row.value("account") as String)
            }
            return try ended.map { hash, account in
                let other = try transaction.rows(Self.selectOther, [app, account]).first
                let id = SessionStore.id(of: hash)
                let expired = SessionStore.Expired(id: id, account: account, isLast: other == nil)
                try data.removeShared(expired, transaction)
                return (hash, expired)
            }
        }
    }

    private static let deleteUnused = """
        DELETE FROM session WHERE token_hash IN (
            SELECT token_hash FROM session WHERE app = $1 AND used_at < $2 LIMIT $3
        ) RETURNING token_hash, account
        """
    private static let selectOther = "SELECT 1 FROM session WHERE app = $1 AND account = $2 LIMIT 1"

    /// A server under test has no shared store.
    func removeSeeded() {}

    private static let maintenance = "sessions/maintenance"
}

extension SessionStore {
    /// The tables that servers share.
    package static let sharedMigrations: [SharedMigration] = [
        SharedMigration(
            "sessions/001 session",
            sql: """
                CREATE TABLE session (
                    token_hash bytea PRIMARY KEY,
                    app text NOT NULL,
                    kind text NOT NULL CHECK (kind IN ('user', 'guest')),
                    account text NOT NULL,
                    name text,
                    created_at int8 NOT NULL,        -- milliseconds since 1970 UTC, as all times
                    used_at int8 NOT NULL
                );
                CREATE INDEX session_account ON session (app, account);
                CREATE INDEX session_by_use ON session (app, used_at);

                -- What the names of the cookies of all servers have in common.
                CREATE TABLE session_cookies (instance text NOT NULL);
                INSERT INTO session_cookies
                    SELECT string_agg(substr('abcdefghijklmnopqrstuvwxyz', 1 + floor(random() * 26)::int, 1), '')
                    FROM generate_series(1, 6);
                """
        )
    ]
}

extension SessionCookies {
    /// Gives the cookies of all servers these names, so that browsers stay logged in.
    ///
    /// - Throws: `SharedStoreError`.
    package func adopt(in transaction: SQLTransaction) throws {
        let instance = String(prefix.dropFirst(Self.common.count).dropLast())
        try transaction.execute("UPDATE session_cookies SET instance = $1", [instance])
    }

    /// The cookies of a store that several servers share.
    ///
    /// - Throws: `SharedStoreError`.
    package init(_ database: SharedDatabase) async throws {
        let names = try await database.rows("SELECT instance FROM session_cookies") {
            try $0.value("instance") as String
        }
        self.init(instance: names.first ?? "shared")
    }
}
