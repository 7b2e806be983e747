import Concurrency
import Foundation
import HTTPTypes
import Screens
import Synchronization

/// Hashes and verifies passwords for requests, within the limits of attempts and of work. A request whose client has
/// left before its password is hashed costs nothing: a storm of such requests delays neither others nor a stop.
struct NotePasswords: Sendable {
    let hasher: PasswordHasher
    let attempts: LoginLimits
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
    ///   wait. `CancellationError` if the client leaves; an error of the KDF.
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

/// Hashes passwords on a thread of its own, one at a time. So it blocks neither an event loop nor a thread of Swift's
/// pool, and its memory is bounded. The thread has a low priority, so that event loops wait less for a processor; with
/// the lowest, a login would take minutes on a busy machine. Addresses take turns, so that a storm from one of them
/// delays a login from another by one hash.
final class PasswordHasher: Sendable {
    /// Too many passwords wait, in all or from this address.
    struct Overloaded: Error {}

    private struct State {
        var waiting: RoundRobinQueue<String?, @Sendable () -> Void>
        /// Whether there is a thread. It ends when nothing waits.
        var isRunning = false

        mutating func next() -> (@Sendable () -> Void)? {
            let next = waiting.popFirst()
            isRunning = next != nil
            return next
        }
    }

    /// The cost of new hashes.
    let cost: PasswordHash.Cost
    private let state: Mutex<State>
    /// The hash that passwords of unknown accounts are compared with, so that they take as long as those of known ones.
    private let unknownAccount: PasswordHash

    /// - Parameters:
    ///   - maximumWaiting: passwords that may wait.
    ///   - maximumPerAddress: how many of them may be from one address.
    init(cost: PasswordHash.Cost, maximumWaiting: Int = 256, maximumPerAddress: Int = 32) {
        self.cost = cost
        state = Mutex(State(waiting: .init(maximum: maximumWaiting, maximumPerClient: maximumPerAddress)))
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

    /// Runs work on the thread, unless its task has been cancelled by then: its client has left, and others wait.
    private func run<Value: Sendable>(_ address: String?, _ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = { @Sendable in
                    continuation.resume(
                        with: Result {
                            if isCancelled.value.load(ordering: .relaxed) { throw CancellationError() }
                            return try work()
                        }
                    )
                }
                guard enqueue(job, from: address) else { return continuation.resume(throwing: Overloaded()) }
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
    }

    /// Enqueues a job of an address, and starts the thread if there is none.
    ///
    /// - Returns: false if too much waits.
    private func enqueue(_ job: @escaping @Sendable () -> Void, from address: String?) -> Bool {
        let (isKept, isFirst) = state.withLock { state in
            guard state.waiting.append(job, of: address) else { return (false, false) }
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if isFirst { Thread.detachNewThread { self.runJobs() } }
        return isKept
    }

    private func runJobs() {
        // On Linux this sets the priority of this thread only. If the system refuses, the thread keeps its priority.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        while let job = state.withLock({ $0.next() }) { job() }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }
}
