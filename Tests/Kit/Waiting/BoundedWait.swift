package import Testing

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
