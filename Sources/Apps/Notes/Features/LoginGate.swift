import Foundation
import Synchronization

/// The login attempts of all requests: ``LoginAttempts`` behind a lock.
final class LoginGate: Sendable {
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
