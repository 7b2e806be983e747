import Synchronization

/// Counts the changes of one thing that responses are made from. Whoever changes it bumps the stamp after the change
/// can be seen and before anybody is told that it is done; who makes a response reads the stamp before the thing
/// itself. An answer is then as good as new for as long as the stamp stands where it stood.
public final class VersionCounter: Sendable {
    private let changes = Atomic<UInt64>(0)

    /// A stamp of something that has not changed yet.
    public init() {}

    /// Something has changed. One bump too many costs a rendering, one too few would be a lie.
    public func bump() {
        changes.add(1, ordering: .sequentiallyConsistent)
    }

    var value: UInt64 { changes.load(ordering: .sequentiallyConsistent) }
}

/// Stamps of things without number, such as accounts, in bounded memory: some share one, and are then thought changed
/// together.
public final class VersionCounters: Sendable {
    private let stamps: [VersionCounter]

    /// Stamps for any number of keys. `count` bounds the memory; more of it means fewer that share one.
    public init(count: Int = 512) {
        stamps = (0..<max(1, count)).map { _ in VersionCounter() }
    }

    /// The stamp of a key; the same for the life of the process.
    public subscript(_ key: some Hashable) -> VersionCounter {
        stamps[Int(UInt(bitPattern: key.hashValue) % UInt(stamps.count))]
    }
}
