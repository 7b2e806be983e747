public import Foundation
public import Freshness
import Synchronization
import Upstream

/// A clock that stands still until a test moves it.
public final class ManualWallClock: Sendable {
    private struct Sleeper {
        let span: Duration
        let deadline: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Date
        var sleepers: [Int: Sleeper] = [:]
        var nextNumber = 0
        var watchers: [(span: Duration, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>

    /// Stands at this instant.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_767_607_200)) {
        state = Mutex(State(now: start))
    }

    /// What it shows.
    public var now: Date { state.withLock { $0.now } }

    /// The clock as the code under test takes it.
    public var wallClock: WallClock {
        WallClock(now: { self.now }, sleep: { try await self.sleep($0) })
    }

    /// Returns when somebody waits for exactly this span.
    public func somebodySleeps(for span: Duration) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers.values.contains(where: { $0.span == span }) { return true }
                state.watchers.append((span, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Whether nobody waits for this span.
    public func nobodySleeps(for span: Duration) -> Bool {
        state.withLock { state in !state.sleepers.values.contains { $0.span == span } }
    }

    /// Moves it on; whoever has waited long enough wakes.
    public func advance(by span: Duration) {
        let woken = state.withLock { state in
            state.now += span.seconds
            let now = state.now
            let woken = state.sleepers.filter { $0.value.deadline <= now }
            for number in woken.keys { state.sleepers[number] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    private func sleep(_ span: Duration) async throws {
        guard span > .zero else { return try Task.checkCancellation() }
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let watchers: [CheckedContinuation<Void, Never>]? = state.withLock { state in
                    if Task.isCancelled { return nil }
                    state.sleepers[number] = Sleeper(
                        span: span,
                        deadline: state.now + span.seconds,
                        continuation: continuation
                    )
                    let watchers = state.watchers.filter { $0.span == span }.map(\.continuation)
                    state.watchers.removeAll { $0.span == span }
                    return watchers
                }
                guard let watchers else { return continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
