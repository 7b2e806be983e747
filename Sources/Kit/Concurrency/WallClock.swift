package import Foundation
import Synchronization

/// The clock that everything in Larder reads. The composition root passes it in, so that tests set the time.
package struct WallClock: Sendable {
    package let now: @Sendable () -> Date
    /// Waits for a duration of real time; throws `CancellationError` if its task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    /// Does work that is due after a duration of the clock's own time. From its return on, the timer is set.
    package typealias Timer =
        @Sendable (_ span: Duration, _ work: @escaping @Sendable () async -> Void) -> Task<Void, any Error>

    private let timer: Timer?
    private let isFrozen: @Sendable () -> Bool
    private let isSet: @Sendable () -> Bool

    /// - Parameters:
    ///   - timer: Follows a clock that can be set or stopped; nil if `sleep` does.
    ///   - isSet: Whether it shows another time than the machine's, or is stopped.
    package init(
        now: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        timer: Timer? = nil,
        isFrozen: @escaping @Sendable () -> Bool = { false },
        isSet: @escaping @Sendable () -> Bool = { false }
    ) {
        self.now = now
        self.sleep = sleep
        self.timer = timer
        self.isFrozen = isFrozen
        self.isSet = isSet
    }

    /// The time that it shows, if that is not the machine's.
    package var testTime: Date? { isSet() ? now() : nil }

    /// Whether a test has stopped the clock: then the order of background work is determined.
    package var standsStill: Bool { isFrozen() }

    /// Does work that is due after a span of this clock's time: a probe, a purge. Waits for a response, such as a
    /// patience or a timeout, pass in real time by ``sleep``.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    package func run(after span: Duration, _ work: @escaping @Sendable () async -> Void) async throws {
        let task = schedule(after: span, work)
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Begins to wait for a span of this clock's time, as ``run(after:_:)`` does. Returns at once.
    ///
    /// - Returns: The task that waits and works. To cancel it ends the wait.
    package func schedule(after span: Duration, _ work: @escaping @Sendable () async -> Void) -> Task<Void, any Error> {
        if let timer { return timer(span, work) }
        return Task { [sleep] in
            try await sleep(span)
            await work()
        }
    }

    /// The clock of the machine.
    package static let system = WallClock(now: { Date() }, sleep: { try await Task.sleep(for: $0) })

    /// Returns a clock that shows `start` now and runs on at the usual rate (setting `clock.start`).
    package static func starting(at start: Date) -> WallClock {
        let origin = ContinuousClock.now
        return WallClock(
            now: { start.addingTimeInterval((ContinuousClock.now - origin).seconds) },
            sleep: { try await Task.sleep(for: $0) },
            isSet: { true }
        )
    }
}

extension Duration {
    /// The duration in seconds, with its fraction.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

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

    /// Returns the difference between the clock that counts sleep and the one that does not, by the system's own calls.
    /// Each request that is served from the cache reads it, and calculating with `Duration` takes longer than both
    /// calls.
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
