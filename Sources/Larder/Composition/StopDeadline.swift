import Dispatch
import Foundation
import Logging

/// Ends a process that does not stop in time: a task that ignores its cancellation would keep it running. What was
/// acknowledged is on disk by then.
struct StopDeadline: Sendable {
    /// How long the process may continue after it was told to stop.
    let timeout: Duration
    let logger: Logger
    var end: @Sendable () -> Void = { _exit(EXIT_FAILURE) }

    /// Begins to count.
    func begin() {
        // Not on the pool of Swift's tasks, which may be what hangs.
        let milliseconds = Int(timeout / .milliseconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            logger.error("work under way does not end: the process ends without it")
            end()
        }
    }
}
