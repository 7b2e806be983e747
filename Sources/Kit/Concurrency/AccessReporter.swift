import NIOCore
import Synchronization

/// Reports uses of a stored response, at most once in ten seconds: a response that is served thousands of times a
/// second costs a comparison each time.
package final class AccessReporter: Sendable {
    /// Time between two reports; eviction needs no finer order.
    static let interval: TimeAmount = .seconds(10)

    private let report: @Sendable () -> Void
    private let due = Atomic<Int64>(.min)

    /// Creates a reporter.
    ///
    /// - Parameter report: Is called on event loops and must not block.
    package init(_ report: @escaping @Sendable () -> Void) {
        self.report = report
    }

    /// Records a use.
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
