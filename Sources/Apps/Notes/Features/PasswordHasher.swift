import Dispatch
import Foundation
import Synchronization

/// Hashes passwords on a queue of its own, one at a time: it blocks neither an event loop nor a thread of Swift's pool,
/// and its memory is bounded.
final class PasswordHasher: Sendable {
    /// The queue is full.
    struct Overloaded: Error {}

    /// The cost of new hashes.
    let cost: PasswordHash.Cost
    private let queue = DispatchQueue(label: "notes.passwords")
    private let maximumWaiting: Int
    private let waiting = Atomic(0)
    /// The hash that passwords of unknown accounts are compared with, so that they take as long as those of known ones.
    private let unknownAccount: PasswordHash

    /// Creates a hasher.
    ///
    /// - Parameter maximumWaiting: passwords that may wait or be worked on.
    init(cost: PasswordHash.Cost, maximumWaiting: Int = 32) {
        self.cost = cost
        self.maximumWaiting = maximumWaiting
        unknownAccount = PasswordHash(salt: Data(repeating: 0, count: 16), cost: cost, digest: Data())
    }

    /// Hashes a new password.
    ///
    /// - Throws: ``Overloaded``; an error of the KDF.
    func hash(_ password: Password) async throws -> PasswordHash {
        let cost = self.cost
        return try await run { try PasswordHash(of: password, cost: cost) }
    }

    /// Returns whether a password matches a hash; false after the same time if there is none, for an unknown account.
    ///
    /// - Throws: ``Overloaded``; an error of the KDF.
    func verify(_ password: Password, against hash: PasswordHash?) async throws -> Bool {
        let hash = hash ?? unknownAccount
        return try await run { try hash.matches(password) }
    }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard waiting.add(1, ordering: .relaxed).newValue <= maximumWaiting else {
            waiting.subtract(1, ordering: .relaxed)
            throw Overloaded()
        }
        defer { waiting.subtract(1, ordering: .relaxed) }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
