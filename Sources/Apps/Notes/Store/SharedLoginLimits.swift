import Database
import Foundation
import Freshness
import SharedStore

/// The login attempts of all servers that share a store: ``LoginAttempts`` over rows.
struct SharedLoginLimits: LoginLimits {
    let database: SharedDatabase
    let limits: LoginAttempts.Limits

    func begin(account: String, address: String?, now: Date) async throws -> LoginAttempts.Decision {
        let full = now.addingTimeInterval(-limits.window.seconds).millisecondsSince1970
        return try await change(account, address) { attempts, transaction in
            try transaction.execute(Self.forget, [full])
            return attempts.begin(account: account, address: address, now: now)
        }
    }

    func abandoned(account: String, address: String?) async throws {
        try await change(account, address) { attempts, _ in attempts.abandoned(account: account, address: address) }
    }

    func succeeded(account: String, address: String?) async throws {
        try await change(account, address) { attempts, _ in attempts.succeeded(account: account, address: address) }
    }

    /// Changes the buckets of an attempt, which no other attempt does at the same time.
    private func change<Value: Sendable>(
        _ account: String,
        _ address: String?,
        _ updates: @escaping @Sendable (inout LoginAttempts, SQLTransaction) throws -> Value
    ) async throws -> Value {
        let keys = LoginAttempts.keys(account, address)
        let turns = keys.map { "notes/attempts/\($0.text)" }
        return try await database.write(turns: turns) { [limits] transaction in
            let stored = try Self.buckets(keys, transaction)
            var attempts = LoginAttempts(limits, stored)
            let value = try updates(&attempts, transaction)
            for key in keys where attempts.buckets[key] != stored[key] {
                if let bucket = attempts.buckets[key] {
                    let at = bucket.at.millisecondsSince1970
                    try transaction.execute(Self.upsert, [key.text, bucket.level, at])
                } else {
                    try transaction.execute("DELETE FROM notes_attempt WHERE key = $1", [key.text])
                }
            }
            return value
        }
    }

    private static func buckets(_ keys: [LoginAttempts.Key], _ transaction: SQLTransaction) throws
        -> [LoginAttempts.Key: LoginAttempts.Bucket]
    {
        let select = "SELECT key, level, at FROM notes_attempt WHERE key = ANY($1)"
        let rows = try transaction.rows(select, [keys.map(\.text)]).map { row in
            let at = Date(millisecondsSince1970: try row.value("at"))
            return (key: try row.value("key") as String, LoginAttempts.Bucket(level: try row.value("level"), at: at))
        }
        return rows.reduce(into: [:]) { buckets, row in
            if let key = keys.first(where: { $0.text == row.key }) { buckets[key] = row.1 }
        }
    }

    private static let upsert = """
        INSERT INTO notes_attempt (key, level, at) VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET level = excluded.level, at = excluded.at
        """
    // A full bucket is the same as none. Those that others change are theirs.
    private static let forget = """
        DELETE FROM notes_attempt WHERE key IN (
            SELECT key FROM notes_attempt WHERE at < $1 LIMIT 100 FOR UPDATE SKIP LOCKED
        )
        """
}
