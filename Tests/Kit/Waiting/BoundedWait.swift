import Testing

/// Ends the waits of tests for what the code under test does: a test that waits in vain fails and says for what.
enum BoundedWait {
    /// The longest wait in steps, of a second each if the machine is idle.
    private static let longest = 20
    /// How often a step lets all other tasks run. On a busy machine they take long to do so, and what is waited for
    /// takes many turns: time alone would not tell a slow machine from a wait in vain.
    private static let turns = 20

    /// Waits, and records an issue if that does not end.
    ///
    /// - Parameters:
    ///   - what: What is waited for.
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

    /// Returns at the end of the longest wait, or if the task is cancelled.
    private static func letOthersRun(_ steps: Int) async {
        for _ in 0..<steps {
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            for _ in 0..<turns { await Task.yield() }
        }
    }
}
