import Foundation
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

/// Limits the login attempts of all requests by ``LoginAttempts``: of this server, or of all that share a store.
protocol LoginLimits: Sendable {
    /// Takes an attempt, unless there is none left.
    func begin(account: String, address: String?, now: Date) async throws -> LoginAttempts.Decision

    /// Records that the password of an attempt was not checked.
    func abandoned(account: String, address: String?) async throws

    /// Records a correct password.
    func succeeded(account: String, address: String?) async throws
}

/// The login attempts of this server: ``LoginAttempts`` behind a lock.
final class LoginGate: LoginLimits {
    private let state: Mutex<LoginAttempts>

    init(_ limits: LoginAttempts.Limits) { state = Mutex(LoginAttempts(limits)) }

    func begin(account: String, address: String?, now: Date) -> LoginAttempts.Decision {
        state.withLock { $0.begin(account: account, address: address, now: now) }
    }

    func abandoned(account: String, address: String?) {
        state.withLock { $0.abandoned(account: account, address: address) }
    }

    func succeeded(account: String, address: String?) {
        state.withLock { $0.succeeded(account: account, address: address) }
    }
}
