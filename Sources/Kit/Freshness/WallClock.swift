public import Foundation

/// The time, as everything in Larder reads it: handed in by the composition root, so that a test decides what time it
/// is.
public struct WallClock: Sendable {
    /// The present instant.
    public let now: @Sendable () -> Date
    /// Waits for a span of real time; throws `CancellationError` when its task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// A clock made of its two functions.
    public init(
        now: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// The machine's clock.
    public static let system = WallClock(now: { Date() }, sleep: { try await Task.sleep(for: $0) })

    /// A clock that showed `start` when it was made and runs on from there at the usual pace (setting `clock.start`).
    public static func starting(at start: Date) -> WallClock {
        let origin = ContinuousClock.now
        return WallClock(
            now: { start.addingTimeInterval((ContinuousClock.now - origin).seconds) },
            sleep: { try await Task.sleep(for: $0) }
        )
    }
}

extension Duration {
    /// The span in seconds, with its fraction.
    public var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
