import Foundation
import Synchronization

/// Notices that the machine has slept. The clock of the event loops stands still meanwhile: what is kept by it has aged, and nobody has seen it.
final class SleepWatch: Sendable {
    /// Shorter stays do no harm to ages in whole seconds.
    private static let tolerance: Int64 = 500_000_000

    private let slept: @Sendable () -> Int64
    private let known: Atomic<Int64>

    /// `slept` tells the nanoseconds that the machine has slept since it was started.
    init(slept: @escaping @Sendable () -> Int64 = SleepWatch.sinceBoot) {
        self.slept = slept
        known = Atomic(slept())
    }

    /// Has everything forgotten where the machine has slept since this was done last. Several that come at once all do it: none goes on before.
    func forgetAfterSleep(_ forget: () -> Void) {
        let slept = self.slept()
        guard slept - known.load(ordering: .acquiring) > Self.tolerance else { return }
        forget()
        known.store(slept, ordering: .releasing)
    }

    /// What CLOCK_BOOTTIME counts and CLOCK_MONOTONIC does not (clock_gettime(2)); neither call enters the kernel.
    private static func sinceBoot() -> Int64 {
        func nanoseconds(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        // In this order, so that what passes between the two calls is no sleep.
        let boot = nanoseconds(CLOCK_BOOTTIME)
        return boot - nanoseconds(CLOCK_MONOTONIC)
    }
}
