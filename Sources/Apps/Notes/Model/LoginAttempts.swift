import Cluster
import Concurrency
import Crypto
import Foundation
import GRDB
import Storage
import Synchronization

/// Limits login attempts by token buckets that refill at a constant rate: for an account from one address, for an
/// address, and for an account from all addresses. The last is so much larger that one client cannot lock out the
/// others. The time is a parameter.
///
/// An attempt takes its token when it begins, so that concurrent attempts are limited as successive ones are; a
/// successful one returns it.
struct LoginAttempts: Sendable {
    /// The sizes of the buckets.
    struct Limits: Sendable, Equatable {
        /// Wrong passwords in a row for one account name, known or not, from one address.
        var perAccount: Int
        /// Wrong passwords in a row from one address.
        var perAddress: Int
        /// Time in which an empty bucket is full again.
        var window: Duration
    }

    /// Whether an attempt is allowed.
    enum Decision: Sendable, Equatable {
        case allowed
        /// Not before this time, in seconds.
        case refused(retryAfter: Int)
    }

    struct Bucket: Sendable, Equatable {
        /// Attempts that are left, a fraction included.
        var level: Double
        var at: Date
    }

    enum Key: Sendable, Hashable {
        case account(String)
        case accountAt(String, address: String?)
        case address(String)

        /// A text that no other key has.
        var text: String {
            switch self {
            case .account(let name): "account/\(name)"
            case .accountAt(let name, let address): "at/\(address ?? "")/\(name)"
            case .address(let address): "address/\(address)"
            }
        }
    }

    /// How many addresses may use up their attempts for one account before it has to wait from everywhere.
    static let addressesPerAccount = 10
    /// The most buckets that are stored; a full bucket is the same as none.
    static let mostBuckets = 20_000

    let limits: Limits
    private(set) var buckets: [Key: Bucket]

    init(_ limits: Limits, _ buckets: [Key: Bucket] = [:]) { (self.limits, self.buckets) = (limits, buckets) }

    /// Takes an attempt from all buckets, or from none.
    mutating func begin(account: String, address: String?, now: Date) -> Decision {
        let keys = Self.keys(account, address)
        let levels = keys.map { level(of: $0, now) }
        let missing = zip(keys, levels).map { key, level in (1 - level) * secondsPerAttempt(key) }.max() ?? 0
        guard missing <= 0 else { return .refused(retryAfter: max(1, Int(missing.rounded(.up)))) }
        if buckets.count + keys.count > Self.mostBuckets { forget(now) }
        for (key, level) in zip(keys, levels) { buckets[key] = Bucket(level: level - 1, at: now) }
        return .allowed
    }

    /// Records a correct password: the account's bucket for the address is full again, the others have their attempt
    /// back.
    mutating func succeeded(account: String, address: String?) {
        abandoned(account: account, address: address)
        buckets[.accountAt(account, address: address)] = nil
    }

    /// Records that the password of an attempt was not checked: all buckets have it back.
    mutating func abandoned(account: String, address: String?) {
        for key in Self.keys(account, address) { buckets[key]?.level += 1 }
    }

    /// The buckets of an attempt.
    static func keys(_ account: String, _ address: String?) -> [Key] {
        [.accountAt(account, address: address), .account(account)] + (address.map { [.address($0)] } ?? [])
    }

    private func capacity(_ key: Key) -> Double {
        switch key {
        case .accountAt: Double(limits.perAccount)
        case .account: Double(limits.perAccount * Self.addressesPerAccount)
        case .address: Double(limits.perAddress)
        }
    }

    private func secondsPerAttempt(_ key: Key) -> Double {
        let components = limits.window.components
        return (Double(components.seconds) + Double(components.attoseconds) / 1e18) / capacity(key)
    }

    private func level(of key: Key, _ now: Date) -> Double {
        guard let bucket = buckets[key] else { return capacity(key) }
        // A clock that was set back neither adds nor removes attempts.
        return min(capacity(key), bucket.level + max(0, now.timeIntervalSince(bucket.at)) / secondsPerAttempt(key))
    }

    /// Removes full buckets, and if that is not enough, the fuller half.
    private mutating func forget(_ now: Date) {
        let levels = buckets.keys.map { key in (key, share: level(of: key, now) / capacity(key)) }
        for (key, share) in levels where share >= 1 { buckets[key] = nil }
        guard buckets.count > Self.mostBuckets / 2 else { return }
        for (key, _) in levels.sorted(by: { $0.share > $1.share }).prefix(Self.mostBuckets / 2) { buckets[key] = nil }
    }
}

/// Limits the login attempts of all requests by ``LoginAttempts``: in the memory of a server by itself, in rows of
/// several servers.
final class LoginLimits: Sendable {
    static let table = """
        CREATE TABLE notes_attempt (
            key BLOB NOT NULL PRIMARY KEY,   -- SHA-256: names that were tried are no one's business
            level REAL NOT NULL,
            at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private let users: UserDatabase
    private let limits: LoginAttempts.Limits
    private let memory: Mutex<LoginAttempts>

    init(_ users: UserDatabase, _ limits: LoginAttempts.Limits) {
        (self.users, self.limits) = (users, limits)
        memory = Mutex(LoginAttempts(limits))
    }

    /// Takes an attempt, unless there is none left.
    func begin(account: String, address: String?, now: Date) async throws -> LoginAttempts.Decision {
        try await change(account, address) { $0.begin(account: account, address: address, now: now) }
    }

    /// Records that the password of an attempt was not checked.
    func abandoned(account: String, address: String?) async throws {
        try await change(account, address) { $0.abandoned(account: account, address: address) }
    }

    /// Records a correct password.
    func succeeded(account: String, address: String?) async throws {
        try await change(account, address) { $0.succeeded(account: account, address: address) }
    }

    private func change<Value: Sendable>(
        _ account: String,
        _ address: String?,
        _ update: @escaping @Sendable (inout LoginAttempts) -> Value
    ) async throws -> Value {
        guard users.isShared else { return memory.withLock { update(&$0) } }
        let keys = LoginAttempts.keys(account, address)
        return try await users.write(scope: "notes/attempts") { [limits] db in
            var attempts = LoginAttempts(limits, try Self.buckets(keys, db))
            let before = attempts.buckets
            let value = update(&attempts)
            for key in keys where attempts.buckets[key] != before[key] {
                try Self.store(attempts.buckets[key], key, db)
            }
            // A full bucket is the same as none.
            if let now = attempts.buckets.values.map(\.at).max() {
                let full = now.addingTimeInterval(-limits.window.seconds).millisecondsSince1970
                try db.execute(sql: Self.forget, arguments: [full])
            }
            return value
        }
    }

    private static func buckets(_ keys: [LoginAttempts.Key], _ db: Database) throws
        -> [LoginAttempts.Key: LoginAttempts.Bucket]
    {
        let select = try db.cachedStatement(sql: "SELECT level, at FROM notes_attempt WHERE key = ?")
        return try keys.reduce(into: [:]) { buckets, key in
            guard let row = try Row.fetchOne(select, arguments: [hash(key)]) else { return }
            buckets[key] = LoginAttempts.Bucket(level: try row.value(0), at: try row.date("at"))
        }
    }

    private static func store(_ bucket: LoginAttempts.Bucket?, _ key: LoginAttempts.Key, _ db: Database) throws {
        guard let bucket else {
            return try db.execute(sql: "DELETE FROM notes_attempt WHERE key = ?", arguments: [hash(key)])
        }
        let upsert = """
            INSERT INTO notes_attempt (key, level, at) VALUES (?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET level = excluded.level, at = excluded.at
            """
        try db.execute(sql: upsert, arguments: [hash(key), bucket.level, bucket.at.millisecondsSince1970])
    }

    private static func hash(_ key: LoginAttempts.Key) -> Data { Data(SHA256.hash(data: Data(key.text.utf8))) }

    private static let forget = """
        DELETE FROM notes_attempt WHERE key IN (SELECT key FROM notes_attempt WHERE at < ? LIMIT 100)
        """
}
