import Synchronization

/// The requests that reached the upstreams, oldest first; at most the last ``capacity``.
final class Journal: Sendable {
    static let capacity = 10_000

    /// Names an entry that was recorded without a status.
    struct Token: Sendable {
        fileprivate let epoch: Int
        fileprivate let sequence: Int
    }

    private struct Waiter {
        let filter: JournalFilter
        let count: Int
        var missing: Int
        let reached: OneShotEvent
    }

    private struct State {
        var entries: [JournalEntry] = []
        /// Index of the oldest entry; entries before it are removed in batches.
        var start = 0
        /// Changes when the journal is cleared, so that a late status cannot hit another entry.
        var epoch = 0
        var lastSequence = 0
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var closed = false
    }

    private let state = Mutex(State())

    /// Records a request and resumes the tasks that wait for it.
    @discardableResult
    func record(_ entry: JournalEntry) -> Token {
        let (token, reached) = state.withLock { state -> (Token, [OneShotEvent]) in
            state.lastSequence += 1
            var entry = entry
            entry.sequence = state.lastSequence
            state.entries.append(entry)
            if state.entries.count - state.start > Self.capacity { state.start += 1 }
            if state.start == Self.capacity {
                state.entries.removeFirst(state.start)
                state.start = 0
            }
            var reached: [OneShotEvent] = []
            for (key, waiter) in state.waiters where waiter.filter.matches(entry) {
                state.waiters[key]?.missing -= 1
                if waiter.missing == 1 { reached.append(waiter.reached) }
            }
            return (Token(epoch: state.epoch, sequence: entry.sequence), reached)
        }
        for event in reached { event.fire() }
        return token
    }

    /// Completes an entry that was recorded when its request began to wait; does nothing if it has been removed.
    func complete(_ token: Token, fault: String, status: Int?) {
        state.withLock { state in
            guard token.epoch == state.epoch, let first = state.entries.first?.sequence else { return }
            let index = token.sequence - first
            guard index >= state.start else { return }
            state.entries[index].fault = fault
            state.entries[index].status = status
        }
    }

    func entries(matching filter: JournalFilter) -> [JournalEntry] {
        state.withLock { state in state.entries[state.start...].filter(filter.matches) }
    }

    func clear() {
        state.withLock { state in
            state.entries = []
            state.start = 0
            state.lastSequence = 0
            state.epoch += 1
            for (key, waiter) in state.waiters { state.waiters[key]?.missing = waiter.count }
        }
    }

    /// Returns as soon as there are `count` entries that match.
    /// - Throws: `CancellationError` if the waiting task is cancelled or the journal is closed.
    func wait(for count: Int, matching filter: JournalFilter) async throws {
        let reached = OneShotEvent()
        let key = state.withLock { state -> Int in
            let missing = count - state.entries[state.start...].count(where: filter.matches)
            if missing <= 0 { reached.fire() }
            if state.closed { reached.cancel() }
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = Waiter(filter: filter, count: count, missing: missing, reached: reached)
            return state.nextWaiter
        }
        defer { _ = state.withLock { $0.waiters.removeValue(forKey: key) } }
        try await reached.wait()
    }

    /// Ends every current and later wait, because the sandbox stops.
    func close() {
        let reached = state.withLock { state in
            state.closed = true
            return state.waiters.values.map(\.reached)
        }
        for event in reached { event.cancel() }
    }
}
