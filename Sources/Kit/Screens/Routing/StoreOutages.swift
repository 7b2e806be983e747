import Concurrency
import Foundation
import Logging
import Synchronization

/// Counts the requests that fail while the store of several servers does not respond: thousands of clients that try
/// again would fill the disk with lines. The log has one when that begins, with its cause, one when no request has
/// failed for a while, with their number, and one a minute until then.
final class StoreOutages: Sendable {
    private struct Outage {
        let begin: Date
        var end: Date
        var count = 0
        var loggedAt: Date
    }

    /// After so long without a failure an outage is over.
    static let pause = Duration.seconds(5)
    private static let interval: TimeInterval = 60

    private let outage = Mutex<Outage?>(nil)
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// Counts a request.
    ///
    /// - Parameter logger: That of the request.
    func note(_ cause: String, logger: Logger) {
        let now = clock.now()
        let isFirst = outage.withLock { outage in
            let isFirst = outage == nil
            var present = outage ?? Outage(begin: now, end: now, loggedAt: now)
            (present.end, present.count) = (now, present.count + 1)
            outage = present
            return isFirst
        }
        guard isFirst else { return }
        logger.error("the shared store cannot be used", metadata: ["error": "\(cause)"])
        var logger = logger
        for key in ["request_id", "trace_id"] { logger[metadataKey: key] = nil }
        watch(logger)
    }

    private func watch(_ logger: Logger) {
        _ = clock.schedule(after: Self.pause) { [self, logger] in if goesOn(logger) { watch(logger) } }
    }

    /// Writes the number of requests if that is due.
    ///
    /// - Returns: Whether further ones may fail.
    private func goesOn(_ logger: Logger) -> Bool {
        let now = clock.now()
        let (line, isOver) = outage.withLock { outage -> (Outage?, Bool) in
            guard let present = outage else { return (nil, true) }
            let isOver = now.timeIntervalSince(present.end) >= Self.pause.seconds
            let isDue = isOver || now.timeIntervalSince(present.loggedAt) >= Self.interval
            if isDue { outage?.loggedAt = now }
            if isOver { outage = nil }
            return (isDue ? present : nil, isOver)
        }
        if let line {
            let seconds = (line.end.timeIntervalSince(line.begin) * 10).rounded() / 10
            logger.error(
                "503 store-unavailable",
                metadata: ["count": .stringConvertible(line.count), "seconds": .stringConvertible(seconds)]
            )
        }
        return !isOver
    }
}
