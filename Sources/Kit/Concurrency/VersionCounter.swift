import Synchronization

/// Counts the changes of something that responses are rendered from.
///
/// A writer bumps the counter after the change is visible and before it is acknowledged. A reader takes the value
/// before it reads. A response equals a new one as long as the value stays the same.
package final class VersionCounter: Sendable {
    private let changes = Atomic<UInt64>(0)

    /// Creates a counter without changes.
    package init() {}

    /// Counts a change. One bump too many costs a rendering, one too few leaves an outdated response in use.
    package func bump() {
        changes.add(1, ordering: .sequentiallyConsistent)
    }

    var value: UInt64 { changes.load(ordering: .sequentiallyConsistent) }
}

/// Counters of any number of keys, such as accounts: a change of one key ends nothing that was rendered from others.
///
/// A counter lives as long as a ``ChangeToken`` has it. So there are at most as many as there are responses to end, and
/// a key whose counter is gone has none that a change could end.
package final class VersionCounters: Sendable {
    private struct Entry {
        weak var counter: VersionCounter?
    }

    private struct State {
        /// By the hash of the key. Two keys of one hash share a counter, and change together.
        var entries: [Int: Entry] = [:]
        /// The number of entries at which those without a counter are removed.
        var limit = VersionCounters.fewest
    }

    private static let fewest = 1024
    private let state = Mutex(State())

    package init() {}

    /// Number of keys that are remembered.
    var count: Int { state.withLock { $0.entries.count } }

    /// Counts a change of all keys.
    package func bumpAll() {
        for counter in state.withLock({ $0.entries.values.compactMap(\.counter) }) { counter.bump() }
    }

    /// The counter of a key, the same as long as it is kept.
    package subscript(_ key: some Hashable) -> VersionCounter {
        let hash = key.hashValue
        return state.withLock { state in
            if let known = state.entries[hash]?.counter { return known }
            if state.entries.count >= state.limit {
                state.entries = state.entries.filter { $0.value.counter != nil }
                state.limit = max(Self.fewest, 2 * state.entries.count)
            }
            let counter = VersionCounter()
            state.entries[hash] = Entry(counter: counter)
            return counter
        }
    }
}
