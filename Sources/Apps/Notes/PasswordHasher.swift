import Dispatch
import Foundation
import Synchronization

/// Hashes passwords beside the tasks of the server, one at a time: neither an event loop nor a thread of the tasks'
/// pool is held up, and memory is bounded whatever arrives.
final class PasswordHasher: Sendable {
    /// More wait already than would be answered in time.
    struct Overloaded: Error {}

    /// The work that new hashes are.
    let cost: PasswordHash.Cost
    private let queue = DispatchQueue(label: "notes.passwords")
    private let maximumWaiting: Int
    private let waiting = Atomic(0)
    /// What the password of an unknown account is compared with, so that it takes as long as that of a known one.
    private let nobody: PasswordHash

    /// - Parameter maximumWaiting: Most that wait or are worked on at a time.
    init(cost: PasswordHash.Cost, maximumWaiting: Int = 32) {
        self.cost = cost
        self.maximumWaiting = maximumWaiting
        nobody = PasswordHash(salt: Data(repeating: 0, count: 16), cost: cost, digest: Data())
    }

    /// The hash of a new password. Throws ``Overloaded``.
    func hash(_ password: Password) async throws -> PasswordHash {
        let cost = self.cost
        return try await run { try PasswordHash(of: password, cost: cost) }
    }

    /// Whether a password is that of a hash; with nil, of an unknown account, false after as long. Throws
    /// ``Overloaded``.
    func verify(_ password: Password, against hash: PasswordHash?) async throws -> Bool {
        let hash = hash ?? nobody
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
