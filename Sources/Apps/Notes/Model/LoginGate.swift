import Foundation
import Synchronization

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
