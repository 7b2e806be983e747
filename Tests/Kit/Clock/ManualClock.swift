package import Concurrency
package import Foundation
package import Testing

/// A clock that only the test advances. Sleeping tasks wake once their time has passed.
package final class ManualClock: Sendable {
    private struct Sleeper {
        let duration: Duration
        let due: Date
    }

    private struct State {
        var now: Date
        var sleepers: [Int: Sleeper] = [:]
        var lastTicket = 0
        var isFrozen = false
    }

    private let state: Watched<State>

    /// Creates a clock that shows this instant; by default 2026-01-05 10:00:00 UTC.
    package init(_ start: Date = Date(timeIntervalSince1970: 1_767_607_200)) {
        state = Watched(State(now: start))
    }

    /// The time it shows.
    package var now: Date { state.value.now }

    /// The clock as the code under test takes it.
    package var wallClock: WallClock {
        WallClock(now: { self.now }, sleep: { try await self.sleep($0) }, isFrozen: { self.state.value.isFrozen })
    }

    /// From now on the clock reports itself as frozen.
    package func freeze() { state.update { $0.isFrozen = true } }

    /// Moves the clock on.
    package func advance(by span: Duration) {
        state.update { state in
            state.now += span.seconds
            state.sleepers = state.sleepers.filter { $0.value.due > state.now }
        }
    }

    /// Returns how many tasks sleep for exactly this span.
    package func count(of span: Duration) -> Int { Self.count(of: span, in: state.value) }

    /// Waits until this many tasks sleep for exactly this span.
    package func sleepers(
        _ count: Int = 1,
        of span: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await state.until("sleep \(count) of \(span)", sourceLocation: sourceLocation) {
            Self.count(of: span, in: $0) >= count
        }
    }

    /// Waits until no task sleeps for this span.
    package func noSleepers(of span: Duration, sourceLocation: SourceLocation = #_sourceLocation) async {
        await state.until("the end of every sleep of \(span)", sourceLocation: sourceLocation) {
            Self.count(of: span, in: $0) == 0
        }
    }

    /// Waits until a task sleeps.
    ///
    /// - Returns: Time until the first of the sleeping tasks wakes.
    package func nextSleep(sourceLocation: SourceLocation = #_sourceLocation) async -> Duration {
        await state.until("a task that sleeps", sourceLocation: sourceLocation) { !$0.sleepers.isEmpty }
        let state = state.value
        let due = state.sleepers.values.map(\.due).min() ?? state.now
        return .milliseconds(Int64((due.timeIntervalSince(state.now) * 1000).rounded()))
    }

    private static func count(of span: Duration, in state: State) -> Int {
        state.sleepers.values.count { abs($0.duration.seconds - span.seconds) < 1e-6 }
    }

    func sleep(_ span: Duration) async throws {
        try Task.checkCancellation()
        let ticket = state.update { state in
            state.lastTicket += 1
            if span > .zero {
                state.sleepers[state.lastTicket] = Sleeper(
                    duration: span,
                    due: state.now.addingTimeInterval(span.seconds)
                )
            }
            return state.lastTicket
        }
        await state.suspend { $0.sleepers[ticket] == nil }
        guard Task.isCancelled else { return }
        state.update { $0.sleepers[ticket] = nil }
        throw CancellationError()
    }
}

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
