import Synchronization

/// A value that a test can wait for, instead of sleeping: each change resumes the tasks whose condition it meets.
package final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var lastTicket = 0
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    @discardableResult
    package func update<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = change(&state.value)
            let met = state.waiters.filter { $0.value.condition(state.value) }
            for ticket in met.keys { state.waiters[ticket] = nil }
            return (result, met.values.map(\.continuation))
        }
        for continuation in woken { continuation.resume() }
        return result
    }

    /// Suspends until the condition holds, or the task is cancelled.
    package func until(_ condition: @escaping @Sendable (Value) -> Bool) async {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMet = state.withLock { state in
                    if condition(state.value) || Task.isCancelled { return true }
                    state.waiters[ticket] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if isMet { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume()
        }
    }
}

/// Holds tasks until the test opens it.
package final class Gate: Sendable {
    private let state = Watched((isOpen: false, arrivals: 0))

    /// Creates a closed gate.
    package init() {}

    /// Waits until the gate is open, or the task is cancelled.
    package func pass() async {
        state.update { $0.arrivals += 1 }
        await state.until { $0.isOpen }
    }

    package func open() { state.update { $0.isOpen = true } }

    /// Waits until this many tasks have arrived.
    package func arrivals(_ count: Int) async { await state.until { $0.arrivals >= count } }
}
