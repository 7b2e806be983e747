import Foundation
import Freshness
import HTTPTypes
import Screens

/// Hashes and verifies passwords for requests, within the limits of attempts and of work. A request whose client is
/// gone when its turn comes costs nothing: a storm of them holds up neither others nor a stop.
struct NotePasswords: Sendable {
    let hasher: PasswordHasher
    let attempts: any LoginLimits
    let clock: WallClock

    /// The cost of new hashes.
    var cost: PasswordHash.Cost { hasher.cost }

    /// Hashes a new password.
    ///
    /// - Throws: ``Problem``, 503 `overloaded` if too many passwords wait; `CancellationError` if the client leaves; an
    ///   error of the KDF.
    func hash(_ password: Password, for request: ScreenRequest) async throws -> PasswordHash {
        let (hasher, address) = (self.hasher, request.clientAddress)
        return try await reportingOverload {
            try await request.whileClientWaits { try await hasher.hash(password, from: address) }
        }
    }

    /// Returns whether a password is that of an account; false if there is none, after the same time.
    ///
    /// - Throws: ``Problem``, 429 with the time to wait if no attempt is left, 503 `overloaded` if too many passwords
    ///   wait; `CancellationError` if the client leaves; an error of the KDF.
    func verify(_ password: Password, of account: NoteAccount?, named name: UserName, for request: ScreenRequest)
        async throws -> Bool
    {
        let (hasher, address) = (self.hasher, request.clientAddress)
        try await begin(name, from: address)
        let isRight: Bool
        do {
            isRight = try await reportingOverload {
                try await request.whileClientWaits {
                    try await hasher.verify(password, against: account?.password, from: address)
                }
            }
        } catch {
            try await attempts.abandoned(account: name.key, address: address)
            throw error
        }
        if isRight { try await attempts.succeeded(account: name.key, address: address) }
        return isRight
    }

    private func begin(_ name: UserName, from address: String?) async throws {
        let decision = try await attempts.begin(account: name.key, address: address, now: clock.now())
        guard case .refused(let seconds) = decision else { return }
        throw Problem(
            .rateLimited,
            .tooManyPasswords(seconds),
            headerFields: [.retryAfter: "\(seconds)"]
        )
    }

    private func reportingOverload<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch is PasswordHasher.Overloaded {
            throw Problem(
                .overloaded,
                .tooManyLogins,
                headerFields: [.retryAfter: "5"]
            )
        }
    }
}
