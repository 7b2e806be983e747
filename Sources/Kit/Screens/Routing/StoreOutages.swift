import Concurrency
import Foundation
import Logging
import Synchronization

/// Counts the requests that fail while the store of several servers does not respond: a line for each would fill the
/// disk. The log gets one line for each cause. Lines with the number of requests follow: one a minute, and the last
/// when none has failed for a while or the server stops.
package final class StoreOutages: Sendable {
    private struct Outage {
        let begin: Date
        var end: Date
        var count = 0
        var loggedAt: Date
        /// The causes that are logged already.
        var causes: Set<String> = []
        let logger: Logger
    }

    /// After so long without a failure an outage is over.
    static let pause = Duration.seconds(5)
    /// The most causes of an outage that the log has.
    static let mostCauses = 10
    private static let interval: TimeInterval = 60

    private let outage = Mutex<Outage?>(nil)
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - cause: Nil if only the problem is known.
    ///   - logger: That of the request.
    func note(_ cause: String?, logger: Logger) {
        let now = clock.now()
        let (isFirst, isNew) = outage.withLock { outage in
            let isFirst = outage == nil
            var present = outage ?? Outage(begin: now, end: now, loggedAt: now, logger: Self.withoutRequest(logger))
            (present.end, present.count) = (now, present.count + 1)
            let isNew = cause.map { present.causes.count < Self.mostCauses && present.causes.insert($0).inserted }
            outage = present
            return (isFirst, isNew ?? isFirst)
        }
        if isNew {
            let cause = cause ?? ProblemCode.storeUnavailable.rawValue
            logger.error("the shared store cannot be used", metadata: ["error": "\(cause)"])
        }
        if isFirst { watch() }
    }

    private static func withoutRequest(_ logger: Logger) -> Logger {
        var logger = logger
        for key in ["request_id", "trace_id"] { logger[metadataKey: key] = nil }
        return logger
    }

    private func watch() {
        _ = clock.schedule(after: Self.pause) { [self] in if goesOn() { watch() } }
    }

    /// Writes the number of requests if that is due.
    ///
    /// - Returns: Whether further ones may fail.
    private func goesOn() -> Bool {
        let now = clock.now()
        let (line, isOver) = outage.withLock { outage -> (Outage?, Bool) in
            guard let present = outage else { return (nil, true) }
            let isOver = now.timeIntervalSince(present.end) >= Self.pause.seconds
            let isDue = isOver || now.timeIntervalSince(present.loggedAt) >= Self.interval
            if isDue { outage?.loggedAt = now }
            if isOver { outage = nil }
            return (isDue ? present : nil, isOver)
        }
        line.map(Self.write)
        return !isOver
    }

    /// Writes the number of requests that have failed, when the server stops.
    package func end() {
        let last = outage.withLock { outage in
            defer { outage = nil }
            return outage
        }
        last.map(Self.write)
    }

    private static func write(_ outage: Outage) {
        let seconds = (outage.end.timeIntervalSince(outage.begin) * 10).rounded() / 10
        outage.logger.error(
            "503 store-unavailable",
            metadata: ["count": .stringConvertible(outage.count), "seconds": .stringConvertible(seconds)]
        )
    }
}
