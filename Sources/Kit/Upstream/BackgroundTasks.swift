import NIOConcurrencyHelpers

/// Tasks that nobody waits for; they end with the server.
final class BackgroundTasks: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var isStopped = false
    }

    private let state = NIOLockedValueBox(State())

    /// Those under way.
    var count: Int { state.withLockedValue { $0.tasks.count } }

    /// Starts one, unless all have been stopped.
    func start(_ work: @escaping @Sendable () async -> Void) {
        state.withLockedValue { state in
            guard !state.isStopped else { return }
            state.lastNumber += 1
            let number = state.lastNumber
            // It cannot end before it is noted: that takes the lock.
            state.tasks[number] = Task {
                await work()
                self.ended(number)
            }
        }
    }

    /// Cancels all, for good.
    func stop() {
        let tasks = state.withLockedValue { state in
            state.isStopped = true
            defer { state.tasks = [:] }
            return state.tasks.values.map { $0 }
        }
        for task in tasks { task.cancel() }
    }

    private func ended(_ number: Int) {
        state.withLockedValue { state in _ = state.tasks.removeValue(forKey: number) }
    }
}
