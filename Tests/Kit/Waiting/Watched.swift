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

    /// Creates it with a first value.
    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    /// The value now.
    package var value: Value { state.withLock { $0.value } }

    /// Changes the value.
    ///
    /// - Returns: What the change returns.
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
