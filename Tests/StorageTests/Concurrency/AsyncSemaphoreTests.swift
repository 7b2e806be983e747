import TestKit
import Testing

@testable import Concurrency

@Suite(.timeLimit(.minutes(10))) struct AsyncSemaphoreTests {
    /// Bodies that are running, and the most at a time.
    private let bodies = Watched((running: 0, most: 0))

    private func run(until gate: Gate) async {
        bodies.update {
            $0.running += 1
            $0.most = max($0.most, $0.running)
        }
        await gate.pass()
        bodies.update { $0.running -= 1 }
    }

    private func until(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () async -> Bool
    ) async {
        await BoundedWait.poll(for: "another state", sourceLocation: sourceLocation, until: condition)
    }

    @Test("At most as many bodies run at a time as there are permits, and all run") func bounded() async throws {
        let semaphore = AsyncSemaphore(permits: 2, maximumWaiting: 10)
        let gate = Gate()
        let tasks = (0..<6).map { number in
            Task {
                try await semaphore.withPermit {
                    await run(until: gate)
                    return number
                }
            }
        }
        await gate.arrivals(2)
        await until { await semaphore.waiting == 4 }
        gate.open()
        var done: [Int] = []
        for task in tasks { done.append(try await task.value) }
        #expect(done == [0, 1, 2, 3, 4, 5])
        #expect(bodies.value.most == 2)
    }

    @Test("A full queue refuses at once") func overloaded() async throws {
        let semaphore = AsyncSemaphore(permits: 1, maximumWaiting: 1)
        let gate = Gate()
        let running = Task { try await semaphore.withPermit { await gate.pass() } }
        await gate.arrivals()
        let waiting = Task { try await semaphore.withPermit { await gate.pass() } }
        await until { await semaphore.waiting == 1 }
        await #expect(throws: AsyncSemaphore.QueueFull()) { try await semaphore.withPermit {} }
        gate.open()
        try await running.value
        try await waiting.value
        try await semaphore.withPermit {}
    }

    @Test("A cancelled task leaves the queue and takes no permit") func cancelled() async throws {
        let semaphore = AsyncSemaphore(permits: 1, maximumWaiting: 2)
        let gate = Gate()
        let running = Task { try await semaphore.withPermit { await gate.pass() } }
        await gate.arrivals()
        let waiting = Task { try await semaphore.withPermit { Issue.record("it was cancelled") } }
        await until { await semaphore.waiting == 1 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(await semaphore.waiting == 0)
        gate.open()
        try await running.value
        try await semaphore.withPermit {}
    }

    @Test("A body that throws returns its permit") func failing() async throws {
        let semaphore = AsyncSemaphore(permits: 1, maximumWaiting: 0)
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await semaphore.withPermit { throw Failure() } }
        try await semaphore.withPermit {}
    }

    @Test("TRUST-10 a reserved permit is for short tasks only, which do not wait for long ones") func reserved()
        async throws
    {
        let semaphore = AsyncSemaphore(permits: 1, reserved: 1, maximumWaiting: 1)
        let (long, short) = (Gate(), Gate())
        let running = Task { try await semaphore.withPermit { await long.pass() } }
        await long.arrivals()
        let waiting = Task { try await semaphore.withPermit { await long.pass() } }
        await until { await semaphore.waiting == 1 }
        let first = Task { try await semaphore.withPermit(isShort: true) { await short.pass() } }
        await short.arrivals()
        // The queue of long tasks is full; short ones have one of their own.
        await #expect(throws: AsyncSemaphore.QueueFull()) { try await semaphore.withPermit {} }
        let second = Task { try await semaphore.withPermit(isShort: true) { await short.pass() } }
        await until { await semaphore.waiting == 2 }
        short.open()
        try await first.value
        try await second.value
        #expect(await semaphore.waiting == 1, "a reserved permit is not passed on to a long task")
        long.open()
        try await running.value
        try await waiting.value
        try await semaphore.withPermit {}
        try await semaphore.withPermit(isShort: true) {}
    }
}
