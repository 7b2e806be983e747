import Dispatch
import Synchronization

/// Tasks that no caller waits for. They end with the server.
package final class BackgroundTasks: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var isStopped = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Number of tasks under way.
    package var count: Int { state.withLock { $0.tasks.count } }

    /// Starts a task. Does nothing after ``stop()``.
    package func start(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.lastNumber += 1
            let number = state.lastNumber
            // It cannot end before it is registered: its end takes the lock.
            state.tasks[number] = Task {
                await work()
                self.ended(number)
            }
        }
    }

    /// Cancels all tasks; none can be started afterwards.
    package func stop() {
        let tasks = state.withLock { state in
            state.isStopped = true
            let tasks = Array(state.tasks.values)
            state.tasks = [:]
            return tasks
        }
        for task in tasks { task.cancel() }
    }

    private func ended(_ number: Int) {
        state.withLock { $0.tasks[number] = nil }
    }
}

/// Runs work that takes long on a thread of its own, one piece after the other.
///
/// Swift's pool has one thread for each processor: two pieces of work that take half a second would hold up all
/// requests of a machine with two. One at a time also bounds the memory.
package final class SerialQueue: Sendable {
    private let queue: DispatchQueue

    /// - Parameter label: its name in reports of the system.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs work after all that was started before.
    ///
    /// - Throws: errors of `work`.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
