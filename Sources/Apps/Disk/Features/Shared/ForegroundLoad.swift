import Concurrency
import Synchronization

/// Counts the requests to the API that clients wait for, so that work in the background lets them go first.
final class ForegroundLoad: Sendable {
    /// A request that a client waits for; it ends with the last reference.
    final class Use: Sendable {
        private let load: ForegroundLoad

        fileprivate init(_ load: ForegroundLoad) {
            self.load = load
            load.state.withLock { $0.uses += 1 }
        }

        deinit { load.end() }
    }

    private struct State {
        var uses = 0
        /// Work that waits until no client does.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    var isBusy: Bool { state.withLock { $0.uses > 0 } }

    func begin() -> Use { Use(self) }

    func during<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let use = begin()
        defer { withExtendedLifetime(use) {} }
        return try await body()
    }

    /// Waits until no client waits for the API.
    ///
    /// - Parameter longest: The longest wait: the background becomes slow beside many clients, but does not stop.
    func idle(atMost longest: Duration, _ clock: WallClock) async throws {
        guard isBusy else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.untilIdle() }
            // It ends early only if the wait is over.
            group.addTask { try? await clock.sleep(longest) }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    private func untilIdle() async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.uses > 0, !Task.isCancelled else { return false }
                    state.waiting[number] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    private func end() {
        let woken = state.withLock { state in
            state.uses -= 1
            guard state.uses == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in woken { continuation.resume() }
    }
}
