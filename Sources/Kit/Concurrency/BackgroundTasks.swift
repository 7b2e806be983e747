import Synchronization

/// Tasks that no caller waits for. They end with the server.
package final class BackgroundTasks: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Creates a registry without tasks.
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
