import Synchronization

/// The requests that reached the upstreams, oldest first; at most the last ``capacity``.
final class Journal: Sendable {
    static let capacity = 10_000

    /// Names an entry that was recorded without a status.
    struct Token: Sendable {
        fileprivate let epoch: Int
        let sequence: Int
    }

    /// Largest number of bytes of request bodies that are kept. Beyond it the oldest bodies are removed.
    static let bodyCapacity = 8 << 20

    fileprivate struct Waiter {
        let filter: JournalFilter
        let count: Int
        var missing: Int
        let reached: OneShotEvent
    }

    fileprivate struct State {
        var entries: [JournalEntry] = []
        /// Index of the oldest entry; entries before it are removed in batches.
        var start = 0
        /// Bytes of the bodies of entries from `firstBody`.
        var bodyBytes = 0
        /// Index of the oldest entry that may have the content of its body.
        var firstBody = 0
        /// Changes when the journal is cleared, so that a late status cannot be written to another entry.
        var epoch = 0
        var lastSequence = 0
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var closed = false
    }

    private let state = Mutex(State())
    /// Hides secrets in the entries: only the beginning of the SHA-256 of each is shown.
    let cleaner = newCleaner

    static var newCleaner: SecretCleaner { SecretCleaner(secrets: Secrets(areHashed: true, limit: 1_000)) }

    /// Records a request and resumes the tasks that wait for it.
    @discardableResult
    func record(_ entry: JournalEntry) -> Token { record(entry) { _ in }.0 }

    /// Records a request and resumes the tasks that wait for it.
    /// - Parameter first: Is called with its number before any task can see the entry.
    func record<Result: Sendable>(_ entry: JournalEntry, first: (Int) -> Result) -> (Token, Result) {
        let (token, result, reached) = state.withLock { state -> (Token, Result, [OneShotEvent]) in
            state.lastSequence += 1
            var entry = entry
            entry.sequence = state.lastSequence
            let result = first(entry.sequence)
            state.append(entry)
            let reached = state.count(nil, entry)
            return (Token(epoch: state.epoch, sequence: entry.sequence), result, reached)
        }
        for event in reached { event.fire() }
        return (token, result)
    }

    /// Changes an entry that was recorded when its request began to wait, and resumes the tasks that wait for its new
    /// form; does nothing if it has been removed.
    func update(_ token: Token, _ change: (inout JournalEntry) -> Void) {
        let reached = state.withLock { state -> [OneShotEvent] in
            guard token.epoch == state.epoch, let first = state.entries.first?.sequence else { return [] }
            let index = token.sequence - first
            guard index >= state.start else { return [] }
            let before = state.entries[index]
            change(&state.entries[index])
            state.bodyBytes += state.entries[index].bodySize - before.bodySize
            state.firstBody = min(state.firstBody, index)
            state.removeOldBodies()
            return state.count(before, state.entries[index])
        }
        for event in reached { event.fire() }
    }

    /// Number of entries that were removed because there was no room for them.
    var dropped: Int { state.withLock { $0.lastSequence - ($0.entries.count - $0.start) } }

    /// Returns the entry with a number; nil if it was removed.
    func entry(_ sequence: Int) -> JournalEntry? {
        state.withLock { state in
            guard let first = state.entries.first?.sequence else { return nil }
            let index = sequence - first
            return state.entries.indices.contains(index) && index >= state.start ? state.entries[index] : nil
        }
    }

    func entries(matching filter: JournalFilter) -> [JournalEntry] {
        state.withLock { state in state.entries[state.start...].filter(filter.matches) }
    }

    func clear() {
        state.withLock { state in
            state.entries = []
            state.start = 0
            (state.bodyBytes, state.firstBody) = (0, 0)
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

extension Journal.State {
    mutating func append(_ entry: JournalEntry) {
        entries.append(entry)
        bodyBytes += entry.bodySize
        if entries.count - start > Journal.capacity { start += 1 }
        removeOldBodies()
        guard start == Journal.capacity else { return }
        entries.removeFirst(start)
        firstBody -= start
        start = 0
    }

    mutating func removeOldBodies() {
        while bodyBytes > Journal.bodyCapacity || firstBody < start {
            bodyBytes -= entries[firstBody].bodySize
            entries[firstBody].body?.content = nil
            firstBody += 1
        }
    }

    /// Counts a new entry, or one that has changed, for the tasks that wait.
    /// - Returns: The events of those that have waited long enough.
    mutating func count(_ before: JournalEntry?, _ after: JournalEntry) -> [OneShotEvent] {
        var reached: [OneShotEvent] = []
        for (key, waiter) in waiters {
            let was = before.map(waiter.filter.matches) ?? false
            guard waiter.filter.matches(after) != was else { continue }
            waiters[key]?.missing += was ? 1 : -1
            if !was, waiter.missing == 1 { reached.append(waiter.reached) }
        }
        return reached
    }
}

extension JournalEntry {
    fileprivate var bodySize: Int { body?.content?.size ?? 0 }
}
