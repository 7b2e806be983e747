package import Foundation
package import Freshness
import Upstream

/// A clock that stands still until the test advances it. Sleeping tasks wake once their time has passed.
package final class ManualClock: Sendable {
    private struct Sleeper {
        let duration: Duration
        let due: Date
    }

    private struct State {
        var now = Date(timeIntervalSince1970: 1_767_700_000)
        var sleepers: [Int: Sleeper] = [:]
        var lastTicket = 0
    }

    private let state = Watched(State())

    /// Creates a clock.
    package init() {}

    /// The time it shows.
    package var now: Date { state.value.now }

    /// The clock as the code under test takes it.
    package var wallClock: WallClock {
        WallClock(now: { self.now }, sleep: { try await self.sleep($0) })
    }

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
    package func sleepers(_ count: Int = 1, of span: Duration) async {
        await state.until { Self.count(of: span, in: $0) >= count }
    }

    /// Waits until no task sleeps for this span.
    package func nobodySleeps(for span: Duration) async {
        await state.until { Self.count(of: span, in: $0) == 0 }
    }

    private static func count(of span: Duration, in state: State) -> Int {
        state.sleepers.values.count { abs($0.duration.seconds - span.seconds) < 1e-6 }
    }

    private func sleep(_ span: Duration) async throws {
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
        await state.until { $0.sleepers[ticket] == nil }
        guard Task.isCancelled else { return }
        state.update { $0.sleepers[ticket] = nil }
        throw CancellationError()
    }
}
