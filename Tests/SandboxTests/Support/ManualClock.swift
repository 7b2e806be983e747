import Synchronization

@testable import Sandbox

/// A clock that stands still until it is told otherwise.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var sleepers: [(deadline: Instant, signal: OneShotEvent)] = []
        var arrivals: [OneShotEvent] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let signal = OneShotEvent()
        let arrivals = state.withLock { state in
            if deadline <= state.now { signal.fire() } else { state.sleepers.append((deadline, signal)) }
            defer { state.arrivals = [] }
            return state.arrivals
        }
        for arrival in arrivals { arrival.fire() }
        try await signal.wait()
    }

    /// Returns when a task sleeps, with the remaining time.
    func nextSleep() async throws -> Duration {
        while true {
            let arrival = OneShotEvent()
            let remaining: Duration? = state.withLock { state in
                if let first = state.sleepers.first { return state.now.duration(to: first.deadline) }
                state.arrivals.append(arrival)
                return nil
            }
            if let remaining { return remaining }
            try await arrival.wait()
        }
    }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let woken = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return woken
        }
        for sleeper in woken { sleeper.signal.fire() }
    }
}
