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

/// Holds tasks until the test opens it.
package final class Gate: Sendable {
    private let state = Watched((isOpen: false, arrivals: 0))

    /// Creates a closed gate.
    package init() {}

    /// Waits until the gate is open, or the task is cancelled.
    package func pass() async {
        state.update { $0.arrivals += 1 }
        await state.suspend { $0.isOpen }
    }

    /// Waits until the gate is open.
    package func passUnlessCancelled() async throws {
        await pass()
        try Task.checkCancellation()
    }

    /// Opens the gate for all tasks, those that come later included.
    package func open() { state.update { $0.isOpen = true } }

    /// Waits until this many tasks have arrived.
    package func arrivals(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        await state.until("arrival \(count) at a gate", sourceLocation: sourceLocation) { $0.arrivals >= count }
    }
}

/// Bounds the waits of tests for the code under test: a test that waits in vain fails, and names the awaited event.
package enum BoundedWait {
    /// The longest wait in steps, of a second each if the machine is idle.
    private static let longest = 60
    /// How often a step lets all other tasks run. On a busy machine a turn takes long, and an event may take many
    /// turns: time alone would not tell a slow machine from a wait in vain.
    private static let turns = 20

    /// Waits, and records an issue if that does not end.
    ///
    /// - Parameters:
    ///   - what: The awaited event, for the failure's text.
    ///   - steps: The longest wait.
    ///   - wait: Returns true once it has happened, false if its task is cancelled before.
    static func run(
        for what: String,
        at sourceLocation: SourceLocation,
        steps: Int = longest,
        _ wait: @escaping @Sendable () async -> Bool
    ) async {
        let hasHappened = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await wait() }
            group.addTask {
                await letOthersRun(steps)
                return false
            }
            var hasHappened = false
            for await result in group {
                if result { hasHappened = true }
                group.cancelAll()
            }
            return hasHappened
        }
        // A test that is cancelled has exceeded its own time limit, and says so.
        if !hasHappened, !Task.isCancelled {
            Issue.record("waited in vain for \(what)", sourceLocation: sourceLocation)
        }
    }

    /// Asks again and again whether a condition holds, of which nothing tells, and lets other tasks run meanwhile. If
    /// it does not hold in time, records an issue.
    ///
    /// - Parameter what: The awaited event, for the failure's text.
    package static func poll(
        for what: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        until condition: () async throws -> Bool
    ) async rethrows {
        let start = ContinuousClock.now
        var turn = 0
        while try await !condition() {
            if Task.isCancelled { return }
            guard turn < longest * turns || start.duration(to: .now) < .seconds(longest) else {
                Issue.record("waited in vain for \(what)", sourceLocation: sourceLocation)
                return
            }
            turn += 1
            await Task.yield()
        }
    }

    /// Returns at the end of the longest wait, or if the task is cancelled.
    private static func letOthersRun(_ steps: Int) async {
        for _ in 0..<steps {
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            for _ in 0..<turns { await Task.yield() }
        }
    }
}

extension Sequence {
    /// Transforms the elements one after the other.
    package func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

extension Sequence where Element: Sendable {
    /// Transforms all elements at the same time. The results are in the order of their ends.
    @discardableResult
    package func concurrentMap<Value: Sendable>(
        _ transform: @escaping @Sendable (Element) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for element in self { group.addTask { try await transform(element) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
