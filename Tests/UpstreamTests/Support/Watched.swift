import NIOConcurrencyHelpers

/// A value that a test can wait for, instead of sleeping: every change wakes those whose condition it fulfils.
final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var lastTicket = 0
    }

    private let state: NIOLockedValueBox<State>

    init(_ value: Value) {
        state = NIOLockedValueBox(State(value: value))
    }

    var value: Value { state.withLockedValue { $0.value } }

    @discardableResult
    func update<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, woken) = state.withLockedValue { state in
            let result = change(&state.value)
            let met = state.waiters.filter { $0.value.condition(state.value) }
            for ticket in met.keys { state.waiters[ticket] = nil }
            return (result, met.values.map(\.continuation))
        }
        for continuation in woken { continuation.resume() }
        return result
    }

    /// Suspends until the condition holds, or the task is cancelled.
    func until(_ condition: @escaping @Sendable (Value) -> Bool) async {
        let ticket = state.withLockedValue { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMet = state.withLockedValue { state in
                    if condition(state.value) || Task.isCancelled { return true }
                    state.waiters[ticket] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if isMet { continuation.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume()
        }
    }
}

/// Holds tasks until the test lets them go.
final class Gate: Sendable {
    private let state = Watched((isOpen: false, arrivals: 0))

    /// Called by what is to be held. Returns early when its task is cancelled.
    func pass() async {
        state.update { $0.arrivals += 1 }
        await state.until { $0.isOpen }
    }

    func open() { state.update { $0.isOpen = true } }

    /// Until so many have come to the gate.
    func arrivals(_ count: Int) async { await state.until { $0.arrivals >= count } }
}
