import NIOCore
import Synchronization

/// Tells that something was used, once in a while: what is given out thousands of times a second is noted every few
/// seconds, and costs a comparison otherwise.
public final class AccessReporter: Sendable {
    /// Between two notes; eviction needs no finer order.
    static let interval: TimeAmount = .seconds(10)

    private let told: @Sendable () -> Void
    private let due = Atomic<Int64>(.min)

    /// `told` is called on event loops: it must not wait for anything.
    public init(_ told: @escaping @Sendable () -> Void) {
        self.told = told
    }

    /// It was used.
    func note(at now: NIODeadline) {
        let instant = Int64(now.uptimeNanoseconds)
        let due = self.due.load(ordering: .relaxed)
        guard instant >= due,
            self.due.compareExchange(expected: due, desired: instant + Self.interval.nanoseconds, ordering: .relaxed)
                .exchanged
        else { return }
        told()
    }
}
