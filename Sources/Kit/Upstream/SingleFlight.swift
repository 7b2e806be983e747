import NIOConcurrencyHelpers

/// Collapses identical requests that are under way at the same time into one (RFC 9211 `collapsed`).
///
/// The work runs in a task of its own: a client that leaves, or runs out of patience, stops waiting and nothing else.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// How a wait ended.
    enum Arrival: Sendable {
        /// The work is done, well or badly.
        case landed(Result<Value, UpstreamError>)
        /// The patience ended, or the waiting task was cancelled; the work goes on.
        case leftWaiting
    }

    private typealias Waiter = CheckedContinuation<Arrival, Never>
    private typealias Results = NIOLockedValueBox<Result<Value, UpstreamError>?>

    private struct State {
        var table = InFlightTable<Key, Waiter>()
        var results: [Key: Results] = [:]
        var tasks: [Key: Task<Void, Never>] = [:]
    }

    private let state = NIOLockedValueBox(State())
    private let clock: WallClock

    init(clock: WallClock) {
        self.clock = clock
    }

    /// Joins the work for a key, or starts it. `collapsed` tells which. Nil patience waits to the end.
    func run(
        _ key: Key,
        patience: Duration?,
        work: @escaping @Sendable () async throws(UpstreamError) -> Value
    ) async -> (arrival: Arrival, collapsed: Bool) {
        let (role, result) = state.withLockedValue { state -> (InFlightTable<Key, Waiter>.Role, Results) in
            let role = state.table.join(key)
            let result = state.results[key] ?? Results(nil)
            state.results[key] = result
            if role == .lead {
                // Started under the lock, so that nobody can join a flight that has no task yet.
                state.tasks[key] = Task { await self.fly(key, into: result, work: work) }
            }
            return (role, result)
        }
        let arrival = await wait(for: key, result: result, patience: patience)
        return (arrival, role == .follow)
    }

    /// Ends all work; everybody who waits is told that it was unreachable.
    func cancelAll() {
        for task in state.withLockedValue({ $0.tasks.values }) { task.cancel() }
    }

    private func fly(_ key: Key, into result: Results, work: @Sendable () async throws(UpstreamError) -> Value) async {
        let outcome: Result<Value, UpstreamError>
        do throws(UpstreamError) {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        let waiters = state.withLockedValue { state in
            result.withLockedValue { $0 = outcome }
            state.results[key] = nil
            state.tasks[key] = nil
            return state.table.land(key)
        }
        for waiter in waiters { waiter.resume(returning: .landed(outcome)) }
    }

    private func wait(for key: Key, result: Results, patience: Duration?) async -> Arrival {
        guard let patience else { return await arrival(of: key, result: result) }
        return await withTaskGroup(of: Arrival.self) { group in
            group.addTask { await self.arrival(of: key, result: result) }
            group.addTask {
                // A cancelled sleep means that the other child was first: its answer is taken, not this one.
                try? await self.clock.sleep(patience)
                return .leftWaiting
            }
            let first = await group.next() ?? .leftWaiting
            group.cancelAll()
            return first
        }
    }

    /// Waits for the flight to land; a cancelled waiter leaves at once.
    private func arrival(of key: Key, result: Results) async -> Arrival {
        let ticket = NIOLockedValueBox<Int?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Waiter) in
                let landed = state.withLockedValue { state -> Arrival? in
                    if let outcome = result.withLockedValue({ $0 }) { return .landed(outcome) }
                    if Task.isCancelled { return .leftWaiting }
                    guard let number = state.table.wait(for: key, continuation) else { return .leftWaiting }
                    ticket.withLockedValue { $0 = number }
                    return nil
                }
                if let landed { continuation.resume(returning: landed) }
            }
        } onCancel: {
            let waiter = state.withLockedValue { state in
                ticket.withLockedValue({ $0 }).flatMap { state.table.leave(key, ticket: $0) }
            }
            waiter?.resume(returning: .leftWaiting)
        }
    }
}
