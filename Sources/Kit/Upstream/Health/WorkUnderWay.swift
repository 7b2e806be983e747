import Synchronization

/// Counts pieces of work in the background, so that a server under test can wait until what a request has started is
/// done.
final class WorkUnderWay: Sendable {
    private struct State {
        var count = 0
        var isAbandoned = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = Mutex(State())

    /// Whether none is left.
    var isDone: Bool { state.withLock { $0.count == 0 || $0.isAbandoned } }

    /// Counts a piece of work.
    func begin() { state.withLock { $0.count += 1 } }

    /// Ends a piece of work.
    func end() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.count -= 1
            return state.count == 0 ? state.takeWaiting() : []
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Ends all waits: what is left will not be done.
    func abandon() {
        let waiting = state.withLock { state in
            state.isAbandoned = true
            return state.takeWaiting()
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Waits until none is left.
    func wait() async {
        await withCheckedContinuation { waiter in
            let isDone = state.withLock { state in
                let isDone = state.count == 0 || state.isAbandoned
                if !isDone { state.waiting.append(waiter) }
                return isDone
            }
            if isDone { waiter.resume() }
        }
    }
}
