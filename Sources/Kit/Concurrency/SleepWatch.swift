import Foundation
import Synchronization

/// Detects that the machine has slept. The clock of the event loops stops meanwhile, so responses that it has dated
/// have aged unnoticed.
package final class SleepWatch: Sendable {
    /// Milliseconds of sleep that do not matter to ages in whole seconds.
    private static let tolerance: Int64 = 500

    private let slept: @Sendable () -> Int64
    private let known: Atomic<Int64>

    /// - Parameter slept: returns the milliseconds that the machine has slept since some instant
    package init(slept: @escaping @Sendable () -> Int64 = SleepWatch.sleep()) {
        self.slept = slept
        known = Atomic(slept())
    }

    /// Calls `forget` if the machine has slept since the last call. Concurrent callers all call it, so none continues
    /// before it is done.
    package func forgetAfterSleep(_ forget: () -> Void) {
        let slept = self.slept()
        guard slept - known.load(ordering: .acquiring) > Self.tolerance else { return }
        forget()
        known.store(slept, ordering: .releasing)
    }

    /// Returns the difference between the clock that counts sleep and the one that does not, by the system's own calls:
    /// each request that is served from the cache looks at it, and calculating with `Duration` takes longer than both.
    private static func sleep() -> @Sendable () -> Int64 {
        {
            // In this order, so that the time between the two looks is no sleep.
            let all = milliseconds(of: CLOCK_BOOTTIME)
            return all - milliseconds(of: CLOCK_MONOTONIC)
        }
    }

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        // Fails for unknown clocks only, and then says zero each time.
        _ = clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
