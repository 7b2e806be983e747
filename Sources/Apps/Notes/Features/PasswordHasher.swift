import Foundation
import Synchronization

/// Hashes passwords on a thread of its own, one at a time: it blocks neither an event loop nor a thread of Swift's
/// pool, and its memory is bounded. The thread has a low priority, so that event loops wait less for a processor, and
/// not the lowest, with which a login would take minutes on a busy machine. Addresses take turns, so that a storm from
/// one of them delays a login from another by one hash.
final class PasswordHasher: Sendable {
    /// Too many passwords wait, in all or from this address.
    struct Overloaded: Error {}

    private struct State {
        var turns: AddressTurns<@Sendable () -> Void>
        /// Whether there is a thread. It ends when nothing waits.
        var isRunning = false

        mutating func next() -> (@Sendable () -> Void)? {
            let next = turns.next()
            isRunning = next != nil
            return next
        }
    }

    /// The cost of new hashes.
    let cost: PasswordHash.Cost
    private let state: Mutex<State>
    /// The hash that passwords of unknown accounts are compared with, so that they take as long as those of known ones.
    private let unknownAccount: PasswordHash

    /// Creates a hasher.
    ///
    /// - Parameters:
    ///   - maximumWaiting: passwords that may wait.
    ///   - maximumPerAddress: how many of them may be from one address.
    init(cost: PasswordHash.Cost, maximumWaiting: Int = 256, maximumPerAddress: Int = 32) {
        self.cost = cost
        let turns = AddressTurns<@Sendable () -> Void>(maximum: maximumWaiting, maximumPerAddress: maximumPerAddress)
        state = Mutex(State(turns: turns))
        unknownAccount = PasswordHash(salt: Data(repeating: 0, count: 16), cost: cost, digest: Data())
    }

    /// Hashes a new password.
    ///
    /// - Parameter address: address of the client; nil if it is not known.
    /// - Throws: ``Overloaded``; an error of the KDF.
    func hash(_ password: Password, from address: String? = nil) async throws -> PasswordHash {
        let cost = self.cost
        return try await run(address) { try PasswordHash(of: password, cost: cost) }
    }

    /// Returns whether a password matches a hash; false after the same time if there is none, for an unknown account.
    ///
    /// - Parameter address: address of the client; nil if it is not known.
    /// - Throws: ``Overloaded``; an error of the KDF.
    func verify(_ password: Password, against hash: PasswordHash?, from address: String? = nil) async throws -> Bool {
        let hash = hash ?? unknownAccount
        return try await run(address) { try hash.matches(password) }
    }

    /// Runs work when its turn comes, unless the task has been cancelled by then: its client has left, and others wait.
    private func run<Value: Sendable>(_ address: String?, _ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let turn = { @Sendable in
                    continuation.resume(
                        with: Result {
                            if isCancelled.value.load(ordering: .relaxed) { throw CancellationError() }
                            return try work()
                        }
                    )
                }
                guard enqueue(turn, from: address) else { return continuation.resume(throwing: Overloaded()) }
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
    }

    /// Keeps work for the turn of its address, and starts the thread if there is none.
    ///
    /// - Returns: false if too much waits.
    private func enqueue(_ turn: @escaping @Sendable () -> Void, from address: String?) -> Bool {
        let (isKept, isFirst) = state.withLock { state in
            guard state.turns.append(turn, from: address) else { return (false, false) }
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if isFirst { Thread.detachNewThread { self.runTurns() } }
        return isKept
    }

    private func runTurns() {
        // On Linux that is of this thread only. If the system refuses, the thread goes on with the priority that it
        // has.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        while let turn = state.withLock({ $0.next() }) { turn() }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }
}
