import Synchronization

/// Counts the changes of something that responses are rendered from.
///
/// A writer bumps the counter after the change is visible and before it is acknowledged. A reader takes the value
/// before it reads. A response equals a new one as long as the value stays the same.
public final class VersionCounter: Sendable {
    private let changes = Atomic<UInt64>(0)

    /// Creates a counter without changes.
    public init() {}

    /// Counts a change. One bump too many costs a rendering, one too few leaves an outdated response in use.
    public func bump() {
        changes.add(1, ordering: .sequentiallyConsistent)
    }

    var value: UInt64 { changes.load(ordering: .sequentiallyConsistent) }
}

/// Counters of any number of keys, such as accounts, in bounded memory. Keys that share a counter change together.
public final class VersionCounters: Sendable {
    private let counters: [VersionCounter]

    /// Creates the counters.
    ///
    /// - Parameter count: Number of counters: with more of them fewer keys share one.
    public init(count: Int = 512) {
        counters = (0..<max(1, count)).map { _ in VersionCounter() }
    }

    /// The counter of a key, the same for the life of the process.
    public subscript(_ key: some Hashable) -> VersionCounter {
        counters[Int(UInt(bitPattern: key.hashValue) % UInt(counters.count))]
    }
}
