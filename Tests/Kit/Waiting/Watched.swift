import Synchronization
package import Testing

/// A value that a test can wait for, instead of sleeping: each change resumes the tasks whose condition it meets.
package final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
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
    /// - Returns: The result of the change.
    @discardableResult
    package func update<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = change(&state.value)
            let met = state.waiters.filter { $0.value.condition(state.value) }
            for ticket in met.keys { state.waiters[ticket] = nil }
            return (result, met.values.map(\.continuation))
        }
        for continuation in woken { continuation.resume(returning: true) }
        return result
    }

    /// Waits until the condition holds. If it does not, the test fails.
    ///
    /// - Parameter what: The awaited event, for the failure's text; by default another value.
    package func until(
        _ what: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @escaping @Sendable (Value) -> Bool
    ) async {
        if condition(value) { return }
        await BoundedWait.run(for: what ?? "another value than \(value)", at: sourceLocation) {
            await self.suspend(until: condition)
        }
    }

    /// Suspends until the condition holds, however long that takes, or the task is cancelled. For tasks that the test
    /// holds or ends; the test itself waits with ``until(_:sourceLocation:_:)``.
    ///
    /// - Returns: Whether the condition held; false if the task was cancelled.
    @discardableResult
    package func suspend(until condition: @escaping @Sendable (Value) -> Bool) async -> Bool {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMet: Bool? = state.withLock { state in
                    if condition(state.value) { return true }
                    if Task.isCancelled { return false }
                    state.waiters[ticket] = Waiter(condition: condition, continuation: continuation)
                    return nil
                }
                if let isMet { continuation.resume(returning: isMet) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume(returning: false)
        }
    }
}
