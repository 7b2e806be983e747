import Foundation

/// Decides when events of frequent changes are published: the first at once, further ones at most once in an interval,
/// and the last change always.
struct EventThrottle: Sendable, Equatable {
    enum Decision: Sendable, Equatable {
        case publish
        /// Publish after this many seconds, with ``EventThrottle/waited(at:)``.
        case wait(Double)
        /// An event is already waited for.
        case nothing
    }

    let interval: Double
    private var last: Date?
    private var isWaiting = false

    /// - Parameter interval: Shortest time between two events, in seconds.
    init(interval: Double) {
        self.interval = interval
    }

    /// Records a change.
    mutating func changed(at now: Date) -> Decision {
        guard !isWaiting else { return .nothing }
        // A clock that was set back does not silence it.
        if let last, case let passed = now.timeIntervalSince(last), (0..<interval).contains(passed) {
            isWaiting = true
            return .wait(interval - passed)
        }
        last = now
        return .publish
    }

    /// Records that the wait is over and the event is published.
    mutating func waited(at now: Date) {
        isWaiting = false
        last = now
    }
}
