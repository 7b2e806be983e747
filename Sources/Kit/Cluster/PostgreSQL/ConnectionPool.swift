import Concurrency
import Metrics
import Synchronization

/// The connections of a store. Each has a thread while it is in use, which libpq blocks; no thread of Swift's pool
/// waits for the network.
final class ConnectionPool: Sendable {
    /// Time after a failure in which no other connection is tried: the callers that wait get an error at once, instead
    /// of each waiting for its own.
    private static let pause = Duration.milliseconds(250)

    private struct State {
        /// The last used ones are at the end and used first: the server may have closed the others.
        var idle: [PoolMember]
        /// The error of the last attempt to connect, and the time before which no other attempt is made.
        var obstacle: (error: ClusterError, end: ContinuousClock.Instant)?
        var isClosed = false
        var failures = StoreLoad.Failures()
    }

    private let options: PostgresOptions
    private let semaphore: AsyncSemaphore
    private let state: Mutex<State>
    private let duration = Metrics.Timer(label: "larder_store_operation_duration_seconds")

    init(_ options: PostgresOptions) {
        self.options = options
        semaphore = AsyncSemaphore(permits: options.connections, maximumWaiting: options.maximumWaiting)
        state = Mutex(State(idle: (0..<options.connections).map { _ in PoolMember() }))
    }

    /// The operations that run and wait now, and the failures so far.
    var load: StoreLoad {
        get async {
            let failures = state.withLock(\.failures)
            return StoreLoad(running: await semaphore.running, waiting: await semaphore.waiting, failures: failures)
        }
    }

    /// Runs work on a connection, which is opened if it has to be.
    ///
    /// - Parameter timeout: the time that it has, waiting for a connection included.
    /// - Throws: ``ClusterError``, `CancellationError` if the task is cancelled while it waits, errors of `work`.
    func run<Value: Sendable>(
        within timeout: Duration,
        _ work: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let start = ContinuousClock.now
        defer { duration.recordSeconds(start.duration(to: .now).seconds) }
        do {
            return try await attempt(within: timeout, work)
        } catch let error as ClusterError {
            state.withLock { $0.failures.count(error) }
            throw error
        }
    }

    private func attempt<Value: Sendable>(
        within timeout: Duration,
        _ work: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let deadline = Deadline(of: timeout, options)
        do {
            return try await semaphore.withPermit(before: deadline.instant) {
                // A connection would be given up for want of time, and the others would have one less.
                guard !deadline.isOver else { throw ClusterError.unavailable(.timedOut) }
                let member = try self.take()
                defer { self.giveBack(member) }
                return try await member.run({ try self.open(deadline) }) { connection in
                    connection.deadline = deadline
                    return try work(connection)
                }
            }
        } catch is AsyncSemaphore.QueueFull {
            throw ClusterError.unavailable(.tooManyWaiting)
        } catch is AsyncSemaphore.WaitTooLong {
            throw ClusterError.unavailable(.timedOut)
        }
    }

    /// Closes the connections: at once those that are idle, the others at the end of their work.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            return state.idle
        }
        for member in idle { member.close() }
    }

    /// Takes a member; there is one for each permit.
    private func take() throws -> PoolMember {
        try state.withLock { state in
            guard !state.isClosed else { throw ClusterError.closed }
            guard let member = state.idle.popLast() else { throw ClusterError.unavailable(.tooManyWaiting) }
            return member
        }
    }

    private func giveBack(_ member: PoolMember) {
        let isClosed = state.withLock { state in
            state.idle.append(member)
            return state.isClosed
        }
        if isClosed { member.close() }
    }

    private func open(_ deadline: Deadline) throws -> PostgresConnection {
        if let obstacle = state.withLock(\.obstacle), obstacle.end > .now { throw obstacle.error }
        do {
            let connection = try PostgresConnection.open(options, deadline)
            state.withLock { $0.obstacle = nil }
            return connection
        } catch let error as ClusterError {
            if !deadline.isShortened || error != .unavailable(.timedOut) {
                state.withLock { $0.obstacle = (error, .now + Self.pause) }
            }
            throw error
        }
    }
}

/// A place for a connection, with its thread.
private final class PoolMember: Sendable {
    private let queue = SerialQueue(label: "larder.store")
    private let connection = Mutex<PostgresConnection?>(nil)

    /// Runs work on its connection; opens one if there is none that can be used.
    func run<Value: Sendable>(
        _ open: @escaping @Sendable () throws -> PostgresConnection,
        _ work: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await queue.run {
            try self.connection.withLock { slot in
                if let open = slot, !open.isAlive() { slot = nil }
                if slot == nil { slot = try open() }
                guard let connection = slot else { throw ClusterError.closed }
                defer { if connection.isBroken { slot = nil } }
                return try work(connection)
            }
        }
    }

    func close() {
        connection.withLock { $0 = nil }
    }
}
