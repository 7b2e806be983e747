public import Foundation

/// The clock that everything in Larder reads. The composition root passes it in, so that tests set the time.
public struct WallClock: Sendable {
    /// Returns the current time.
    public let now: @Sendable () -> Date
    /// Waits for a duration of real time; throws `CancellationError` if its task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a clock of its two functions.
    public init(
        now: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// The clock of the machine.
    public static let system = WallClock(now: { Date() }, sleep: { try await Task.sleep(for: $0) })

    /// Returns a clock that shows `start` now and runs on at the usual rate (setting `clock.start`).
    public static func starting(at start: Date) -> WallClock {
        let origin = ContinuousClock.now
        return WallClock(
            now: { start.addingTimeInterval((ContinuousClock.now - origin).seconds) },
            sleep: { try await Task.sleep(for: $0) }
        )
    }
}

extension Duration {
    /// The duration in seconds, with its fraction.
    public var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
