import Synchronization

/// Notices that the machine has slept. The clock of the event loops stands still meanwhile: what is kept by it has
/// aged, and nobody has seen it.
final class SleepWatch: Sendable {
    /// Shorter stays do no harm to ages in whole seconds.
    private static let tolerance: Int64 = 500

    private let slept: @Sendable () -> Int64
    private let known: Atomic<Int64>

    /// `slept` tells the milliseconds that the machine has slept since some instant.
    init(slept: @escaping @Sendable () -> Int64 = SleepWatch.sleep()) {
        self.slept = slept
        known = Atomic(slept())
    }

    /// Has everything forgotten where the machine has slept since this was done last. Several that come at once all do
    /// it: none goes on before.
    func forgetAfterSleep(_ forget: () -> Void) {
        let slept = self.slept()
        guard slept - known.load(ordering: .acquiring) > Self.tolerance else { return }
        forget()
        known.store(slept, ordering: .releasing)
    }

    /// What the one clock counts and the other does not.
    private static func sleep() -> @Sendable () -> Int64 {
        let (awake, always) = (SuspendingClock.now, ContinuousClock.now)
        return {
            // In this order, so that what passes between the two looks is no sleep.
            let all = ContinuousClock.now - always
            return Int64((all - (SuspendingClock.now - awake)) / .milliseconds(1))
        }
    }
}
