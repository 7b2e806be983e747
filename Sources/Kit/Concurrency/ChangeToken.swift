package import NIOCore
import Synchronization

/// Says how long a response equals the one that would be rendered now: until a deadline, and until something changes
/// that it was rendered from.
///
/// It must be taken before anything of the response is read, so that a change in between invalidates it.
package struct ChangeToken: Sendable {
    private struct CounterValue: Sendable {
        let counter: VersionCounter
        let value: UInt64
    }

    /// The first instant at which it does not hold any more; nil if it does not expire. On the monotonic clock, so that
    /// setting the wall clock does not prolong it.
    package private(set) var deadline: NIODeadline?
    /// The age of the response at any instant; nil for one without an upstream.
    package private(set) var age: RunningAge?
    private var values: [CounterValue]
    private var uses: [AccessReporter] = []

    /// Creates a token that holds until one of the counters is bumped or the deadline is reached.
    package init(of counters: VersionCounter..., until deadline: NIODeadline? = nil, age: RunningAge? = nil) {
        self.deadline = deadline
        self.age = age
        values = counters.map { CounterValue(counter: $0, value: $0.value) }
    }

    /// A token that holds for the life of the process.
    package static let unlimited = ChangeToken()

    /// Returns a token that holds while both do.
    package func and(_ other: ChangeToken) -> ChangeToken {
        var both = self
        both.deadline = [deadline, other.deadline].compactMap { $0 }.min()
        both.age = age ?? other.age
        both.values += other.values
        both.uses += other.uses
        return both
    }

    /// Returns the token with a deadline and an age.
    package func ending(at deadline: NIODeadline?, age: RunningAge) -> ChangeToken {
        and(ChangeToken(until: deadline, age: age))
    }

    /// Returns the token with a reporter that is notified when the response is served again from memory: the stored
    /// response that it was rendered from is then in use.
    package func noting(_ uses: AccessReporter) -> ChangeToken {
        var noting = self
        noting.uses.append(uses)
        return noting
    }

    /// Reports that the response was served again from memory.
    package func noteUse(at now: NIODeadline) {
        for use in uses { use.note(at: now) }
    }

    /// Returns whether it still holds.
    package func holds(at now: NIODeadline) -> Bool {
        if let deadline, now >= deadline { return false }
        for value in values where value.counter.value != value.value { return false }
        return true
    }
}

extension ChangeToken {
    /// Whether it still holds now.
    package var holds: Bool { holds(at: .now()) }
}

/// The age of a stored response at any instant, for `Age` and for the `ttl` of `Cache-Status`.
package struct RunningAge: Sendable, Equatable {
    private let instant: NIODeadline
    private let nanoseconds: Int64
    private let lifetime: Int

    /// - Parameters:
    ///   - seconds: The age in seconds at `instant`.
    ///   - timeToLive: The remaining freshness in whole seconds at `instant`, negative if stale.
    ///   - instant: When both were true.
    package init(seconds: Double, timeToLive: Int, at instant: NIODeadline) {
        self.instant = instant
        // The clock's unit cannot express more than three hundred years.
        nanoseconds = Int64(min(max(0, seconds), 9e9) * 1e9)
        lifetime = timeToLive + Int(nanoseconds / 1_000_000_000)
    }

    /// Returns the whole seconds since the response was fetched or validated: `Age` (RFC 9111 §5.1).
    package func seconds(at now: NIODeadline) -> Int {
        let (sum, isBeyond) = nanoseconds.addingReportingOverflow((now - instant).nanoseconds)
        return isBeyond ? Int(Int64.max / 1_000_000_000) : max(0, Int(sum / 1_000_000_000))
    }

    /// Returns the remaining freshness in whole seconds, negative if stale: `ttl` (RFC 9211 §2.4).
    package func timeToLive(at now: NIODeadline) -> Int { lifetime - seconds(at: now) }
}

/// Counts the changes of something that responses are rendered from.
///
/// A writer bumps the counter after the change is visible and before it is acknowledged. A reader takes the value
/// before it reads. A response equals a new one as long as the value stays the same.
package final class VersionCounter: Sendable {
    private let changes = Atomic<UInt64>(0)

    package init() {}

    /// Counts a change. One bump too many costs a rendering, one too few leaves an outdated response in use.
    package func bump() {
        changes.add(1, ordering: .sequentiallyConsistent)
    }

    var value: UInt64 { changes.load(ordering: .sequentiallyConsistent) }
}

/// Counters of any number of keys, such as accounts: a change of one key ends nothing that was rendered from others.
///
/// A counter exists as long as a ``ChangeToken`` refers to it. So there are at most as many counters as responses that
/// can end. A key without a counter has no response that a change could end.
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

    /// Returns the counter of a key: the same one while anyone holds it.
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

/// Reports uses of a stored response, at most once in ten seconds: a response that is served thousands of times a
/// second costs a comparison each time.
package final class AccessReporter: Sendable {
    /// Time between two reports; eviction needs no finer order.
    static let interval: TimeAmount = .seconds(10)

    private let report: @Sendable () -> Void
    private let due = Atomic<Int64>(.min)

    /// - Parameter report: Is called on event loops and must not block.
    package init(_ report: @escaping @Sendable () -> Void) {
        self.report = report
    }

    func note(at now: NIODeadline) {
        let instant = Int64(now.uptimeNanoseconds)
        let due = self.due.load(ordering: .relaxed)
        guard instant >= due,
            self.due.compareExchange(expected: due, desired: instant + Self.interval.nanoseconds, ordering: .relaxed)
                .exchanged
        else { return }
        report()
    }
}
