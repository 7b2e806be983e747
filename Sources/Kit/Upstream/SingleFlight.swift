import NIOConcurrencyHelpers

/// Collapses identical requests that are under way at the same time into one (RFC 9211 `collapsed`).
///
/// The work runs in a task of its own: a client that leaves, or runs out of patience, stops waiting and nothing else.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// How a wait ended.
    enum Arrival: Sendable {
        /// The work is done, well or badly.
        case completed(Result<Value, UpstreamError>)
        /// The patience ended, or the waiting task was cancelled; the work goes on.
        case abandoned
    }

    /// What the work is.
    typealias Work = @Sendable () async throws(UpstreamError) -> Value

    private typealias Waiter = CheckedContinuation<Arrival, Never>

    private struct State {
        var table = InFlightTable<Key, Waiter>()
        var tasks: [Key: Task<Void, Never>] = [:]
    }

    private let state = NIOLockedValueBox(State())
    private let clock: WallClock

    init(clock: WallClock) {
        self.clock = clock
    }

    /// Joins the work for a key, or starts it. `collapsed` tells which. Nil patience waits to the end.
    func run(_ key: Key, patience: Duration?, work: @escaping Work) async -> (arrival: Arrival, collapsed: Bool) {
        guard let patience else { return await join(key, work: work) }
        return await withTaskGroup(of: (arrival: Arrival, collapsed: Bool)?.self) { group in
            group.addTask { await self.join(key, work: work) }
            group.addTask {
                // Whether it ends or is cancelled, it has no say: the other child tells how the wait ended.
                try? await self.clock.sleep(patience)
                return nil
            }
            var outcome: (arrival: Arrival, collapsed: Bool)?
            while let finished = await group.next() {
                group.cancelAll()
                if let finished { outcome = finished }
            }
            return outcome ?? (.abandoned, false)
        }
    }

    /// Ends all work; everybody who waits is told that it was unreachable.
    func cancelAll() {
        for task in state.withLockedValue({ $0.tasks.values }) { task.cancel() }
    }

    /// Joins and waits until the flight has landed; a cancelled waiter leaves at once.
    private func join(_ key: Key, work: @escaping Work) async -> (arrival: Arrival, collapsed: Bool) {
        let ticket = NIOLockedValueBox<Int?>(nil)
        var collapsed = false
        let arrival = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                // One step under the lock: nobody joins a flight that has no task yet, none lands before its first
                // waiter waits.
                let leaving = state.withLockedValue { state -> Waiter? in
                    let (role, number) = state.table.join(key, waiter)
                    collapsed = role == .follow
                    if role == .lead { state.tasks[key] = Task { await self.performWork(key, work) } }
                    if Task.isCancelled { return state.table.leave(key, ticket: number) }
                    ticket.withLockedValue { $0 = number }
                    return nil
                }
                leaving?.resume(returning: .abandoned)
            }
        } onCancel: {
            let waiter = state.withLockedValue { state in
                ticket.withLockedValue({ $0 }).flatMap { state.table.leave(key, ticket: $0) }
            }
            waiter?.resume(returning: .abandoned)
        }
        return (arrival, collapsed)
    }

    private func performWork(_ key: Key, _ work: Work) async {
        let outcome: Result<Value, UpstreamError>
        do throws(UpstreamError) {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        let waiters = state.withLockedValue { state in
            state.tasks[key] = nil
            return state.table.complete(key)
        }
        for waiter in waiters { waiter.resume(returning: .completed(outcome)) }
    }
}
