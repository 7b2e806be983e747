import Concurrency
import Foundation

extension ManualClock {
    /// The clock for code that takes a `Clock` of the standard library.
    package var monotonic: some Clock<Duration> { Monotonic(clock: self) }

    private struct Monotonic: Clock {
        struct Instant: InstantProtocol {
            let date: Date

            func advanced(by duration: Duration) -> Instant { Instant(date: date + duration.seconds) }
            func duration(to other: Instant) -> Duration {
                .milliseconds(Int64((other.date.timeIntervalSince(date) * 1000).rounded()))
            }
            static func < (left: Instant, right: Instant) -> Bool { left.date < right.date }
        }

        let clock: ManualClock

        var now: Instant { Instant(date: clock.now) }
        var minimumResolution: Duration { .milliseconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await clock.sleep(now.duration(to: deadline))
        }
    }
}
