import Database
import Foundation
public import GRDB
import Synchronization

extension SessionStore {
    /// A session that was not used for the lifetime of sessions.
    public struct Expired: Sendable {
        /// Its identity.
        public let id: String
        /// Identity of its account within the app.
        public let account: String
        /// Whether the account has no session any more.
        public let isLast: Bool
    }

    /// Removes what belongs to an expired session, in the transaction that ends it.
    public typealias Removal = @Sendable (Expired, Database) throws -> Void

    /// Lets the sessions of an app expire; those of other apps do not.
    ///
    /// - Parameter remove: removes what belongs to one.
    public func letExpire(sessionsOf app: String, _ remove: @escaping Removal = { _, _ in }) {
        removals.byApp.withLock { $0[app] = remove }
    }

    /// Writes when sessions were used, then ends those that were not used for their lifetime, with what belongs to
    /// them.
    ///
    /// - Throws: `StorageError`, `CancellationError`; what the removals throw.
    public func endUnused() async throws {
        // What was used a moment ago must not count as unused.
        try await storeUses()
        guard let oldest else { return }
        for (app, remove) in removals.byApp.withLock({ $0 }) {
            while try hasUnused(of: app, since: oldest) {
                try await endUnused(of: app, since: oldest, remove)
            }
        }
    }

    /// Writes when sessions were used, exact to the day. After an error the uses are still recorded.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    public func storeUses() async throws {
        let taken = uses.take()
        guard !taken.isEmpty else { return }
        do {
            try await database.writeFreeingRoom { db in
                let statement = try db.cachedStatement(sql: Self.updateUse)
                for (hash, time) in taken {
                    let now = time.millisecondsSince1970
                    try statement.execute(arguments: ["now": now, "hash": hash, "before": now - Self.resolution])
                }
            }
        } catch {
            for (hash, time) in taken { uses.note(hash, at: time) }
            throw error
        }
    }

    /// Milliseconds within which further uses are not written.
    private static let resolution: Int64 = 86_400_000
    /// Sessions that end in one transaction.
    private static let batch = 500
    static let updateUse = "UPDATE session SET used_at = :now WHERE token_hash = :hash AND used_at < :before"
    static let selectUnused = "SELECT 1 FROM session WHERE app = ? AND used_at < ? LIMIT 1"
    static let deleteUnused = """
        DELETE FROM session WHERE token_hash IN (
            SELECT token_hash FROM session WHERE app = ? AND used_at < ? LIMIT ?
        ) RETURNING token_hash, account
        """
    private static let selectOther = "SELECT 1 FROM session WHERE app = ? AND account = ? LIMIT 1"

    private func hasUnused(of app: String, since oldest: Int64) throws -> Bool {
        try database.read { db in
            try Int.fetchOne(try db.cachedStatement(sql: Self.selectUnused), arguments: [app, oldest]) != nil
        }
    }

    private func endUnused(of app: String, since oldest: Int64, _ remove: @escaping Removal) async throws {
        try await database.writeErasing { [self] db in
            let rows = try Row.fetchAll(db, sql: Self.deleteUnused, arguments: [app, oldest, Self.batch])
            for row in rows {
                let (hash, account): (Data, String) = (row[0], row[1])
                let other = try Int.fetchOne(
                    try db.cachedStatement(sql: Self.selectOther),
                    arguments: [app, account]
                )
                try remove(Expired(id: Self.id(of: hash), account: account, isLast: other == nil), db)
            }
            let hashes = rows.map { $0[0] as Data }
            db.afterNextTransaction { _ in
                for hash in hashes { ended(hash) }
            }
        }
    }
}
