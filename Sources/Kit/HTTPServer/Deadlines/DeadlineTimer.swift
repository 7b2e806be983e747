import NIOCore

/// The timer of a connection: fires no later than the next of its deadlines.
///
/// One that fires too early leads to a check only, after which it is armed again, so a request with an immediate
/// response costs no scheduling. Call ``fired()`` first in what it does.
struct DeadlineTimer {
    private var pending: (deadline: NIODeadline, task: Scheduled<Void>)?

    /// Makes the timer fire at a deadline, unless it fires before that.
    ///
    /// - Parameters:
    ///   - deadline: The next of all deadlines; nil if there is none, then the timer stays as it is.
    ///   - eventLoop: That of the connection, on which this is called.
    mutating func arm(_ deadline: NIODeadline?, on eventLoop: any EventLoop, _ fire: @escaping () -> Void) {
        guard let deadline else { return }
        if let pending {
            guard deadline < pending.deadline else { return }
            pending.task.cancel()
        }
        pending = (deadline, eventLoop.assumeIsolated().scheduleTask(deadline: deadline, fire))
    }

    /// Notes that the timer has fired.
    mutating func fired() { pending = nil }

    /// Ends the timer.
    mutating func cancel() {
        pending?.task.cancel()
        pending = nil
    }
}
