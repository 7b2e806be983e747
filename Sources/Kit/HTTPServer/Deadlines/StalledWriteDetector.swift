import NIOCore

/// Detects that a client takes nothing of what is waiting for it. A slow reader passes as long as it takes anything.
///
/// It checks four times within the deadline and needs no work per write, which keeps it off the path of a hit.
struct StalledWriteDetector {
    private let deadline: TimeAmount
    private var taken = 0
    private var progressAt: NIODeadline?
    /// When to check next; nil while nothing is watched.
    private(set) var nextCheck: NIODeadline?

    init(deadline: TimeAmount) {
        self.deadline = deadline
    }

    /// Whether a check is scheduled, so that another write need not start one.
    var isWatching: Bool { nextCheck != nil }

    /// Bytes were handed over while nothing was watched.
    /// - Parameter taken: bytes the client's socket has taken since the connection began
    mutating func begin(taken: Int, now: NIODeadline) {
        self.taken = taken
        progressAt = now
        nextCheck = now + interval
    }

    /// Checks the progress since the last check.
    /// - Parameter waiting: bytes handed over and not taken
    /// - Returns: whether the client has taken nothing for the deadline
    mutating func isStalled(taken: Int, waiting: Int, now: NIODeadline) -> Bool {
        guard let progressAt, let nextCheck, now >= nextCheck else { return false }
        guard waiting > 0 else {
            self.nextCheck = nil
            return false
        }
        if taken > self.taken {
            self.taken = taken
            self.progressAt = now
        } else if now - progressAt >= deadline {
            return true
        }
        self.nextCheck = now + interval
        return false
    }

    private var interval: TimeAmount { .nanoseconds(max(1, deadline.nanoseconds / 4)) }
}
