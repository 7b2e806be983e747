import Synchronization

/// Collapses identical requests that are under way at the same time into one (RFC 9211 §2.6 `collapsed`).
///
/// The work runs in a task of its own: a caller that is cancelled, or whose patience ends, stops only its own wait.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
    package enum WaitOutcome: Sendable {
        case completed(Result<Value, Failure>)
        /// The patience ended, or the waiting task was cancelled; the work continues.
        case abandoned
    }

    /// The work of one flight.
    package typealias Work = @Sendable () async throws(Failure) -> Value

    private typealias Waiter = CheckedContinuation<WaitOutcome, Never>

    private struct State {
        var table = InFlightTable<Key, Waiter>()
        var tasks: [Key: Task<Void, Never>] = [:]
    }

    private let state = Mutex(State())
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: Waits for a span of time, and throws if its task is cancelled.
    package init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.sleep = sleep
    }

    /// Joins the work for a key, or starts it.
    ///
    /// - Parameters:
    ///   - patience: Longest wait; nil waits to the end.
    ///   - joined: Is called once the caller waits: the end of the flight ends its wait.
    /// - Returns: How the wait ended, and whether the work was another caller's (`collapsed`).
    package func run(
        _ key: Key,
        patience: Duration?,
        joined: @escaping @Sendable () -> Void = {},
        work: @escaping Work
    ) async -> (outcome: WaitOutcome, collapsed: Bool) {
        guard let patience else { return await join(key, joined, work: work) }
        return await withTaskGroup(of: (outcome: WaitOutcome, collapsed: Bool)?.self) { group in
            group.addTask { await self.join(key, joined, work: work) }
            group.addTask {
                // Its end and its cancellation mean the same: the other child says how the wait ended.
                try? await self.sleep(patience)
                return nil
            }
            var result: (outcome: WaitOutcome, collapsed: Bool)?
            while let finished = await group.next() {
                group.cancelAll()
                if let finished { result = finished }
            }
            return result ?? (.abandoned, false)
        }
    }

    /// Cancels all work. Its callers receive the error or value with which the cancelled work ends.
    package func cancelAll() {
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }

    /// Joins a flight and waits for its end, or for the caller's cancellation.
    private func join(_ key: Key, _ joined: @escaping @Sendable () -> Void, work: @escaping Work) async -> (
        outcome: WaitOutcome, collapsed: Bool
    ) {
        let ticket = state.withLock { $0.table.makeTicket() }
        var collapsed = false
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                // One step under the lock: no task joins a flight that has no work yet, and no flight ends before its
                // first waiter is registered.
                let (role, leaving) = state.withLock { state -> (InFlightTable<Key, Waiter>.Role, Waiter?) in
                    let role = state.table.join(key, waiter, ticket: ticket)
                    if role == .lead { state.tasks[key] = Task { await self.performWork(key, work) } }
                    return (role, Task.isCancelled ? state.table.leave(key, ticket: ticket) : nil)
                }
                collapsed = role == .follow
                joined()
                leaving?.resume(returning: .abandoned)
            }
        } onCancel: {
            state.withLock { $0.table.leave(key, ticket: ticket) }?.resume(returning: .abandoned)
        }
        return (outcome, collapsed)
    }

    private func performWork(_ key: Key, _ work: Work) async {
        let result: Result<Value, Failure>
        do throws(Failure) {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        let waiters = state.withLock { state in
            state.tasks[key] = nil
            return state.table.complete(key)
        }
        for waiter in waiters { waiter.resume(returning: .completed(result)) }
    }
}

/// The requests under way and the tasks that wait for each of them: single flight as a value, without tasks and locks.
package struct InFlightTable<Key: Hashable, Waiter> {
    /// The role of a task that joins a flight.
    package enum Role: Sendable, Equatable {
        /// The key is not in flight: run the work.
        case lead
        /// It is in flight: wait with the others.
        case follow
    }

    /// Identifies one wait.
    package struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    private var flights: [Key: [Ticket: Waiter]] = [:]
    private var lastNumber = 0

    package init() {}

    package func isInFlight(_ key: Key) -> Bool { flights[key] != nil }

    /// Returns a new ticket for ``join(_:_:ticket:)`` and ``leave(_:ticket:)``.
    package mutating func makeTicket() -> Ticket {
        lastNumber += 1
        return Ticket(number: lastNumber)
    }

    /// Adds a waiter to the flight of a key, which begins if there is none.
    package mutating func join(_ key: Key, _ waiter: Waiter, ticket: Ticket) -> Role {
        let role: Role = flights[key] == nil ? .lead : .follow
        flights[key, default: [:]][ticket] = waiter
        return role
    }

    /// Removes a waiter whose patience is over or whose client has disconnected; the flight continues.
    ///
    /// - Returns: The waiter, nil if it did not wait any more.
    package mutating func leave(_ key: Key, ticket: Ticket) -> Waiter? {
        flights[key]?.removeValue(forKey: ticket)
    }

    /// Ends a flight.
    ///
    /// - Returns: Its remaining waiters in no particular order.
    package mutating func complete(_ key: Key) -> [Waiter] {
        flights.removeValue(forKey: key).map { Array($0.values) } ?? []
    }
}

extension InFlightTable: Sendable where Key: Sendable, Waiter: Sendable {}
