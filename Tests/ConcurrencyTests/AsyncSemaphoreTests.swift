import Synchronization
import Testing

@testable import Concurrency

@Suite(.timeLimit(.minutes(1))) struct AsyncSemaphoreTests {
    /// Holds bodies until it is opened, and counts those that are in it.
    private actor Gate {
        private(set) var inside = 0
        private(set) var most = 0
        private var isOpen = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        func pass() async {
            inside += 1
            most = max(most, inside)
            if !isOpen { await withCheckedContinuation { waiters.append($0) } }
            inside -= 1
        }

        func open() {
            isOpen = true
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
    }

    private func until(_ condition: () async -> Bool) async {
        while !(await condition()) { await Task.yield() }
    }

    @Test("at most as many bodies run at a time as there are permits, and all run") func bounded() async throws {
        let semaphore = AsyncSemaphore(permits: 2, maximumWaiting: 10)
        let gate = Gate()
        let tasks = (0..<6).map { number in
            Task {
                try await semaphore.withPermit {
                    await gate.pass()
                    return number
                }
            }
        }
        await until { await gate.inside == 2 }
        await until { await semaphore.waiting == 4 }
        await gate.open()
        var done: [Int] = []
        for task in tasks { done.append(try await task.value) }
        #expect(done == [0, 1, 2, 3, 4, 5])
        #expect(await gate.most == 2)
    }

    @Test("a full queue refuses at once") func overloaded() async throws {
        let semaphore = AsyncSemaphore(permits: 1, maximumWaiting: 1)
        let gate = Gate()
        let running = Task { try await semaphore.withPermit { await gate.pass() } }
        await until { await gate.inside == 1 }
        let waiting = Task { try await semaphore.withPermit { await gate.pass() } }
        await until { await semaphore.waiting == 1 }
        await #expect(throws: AsyncSemaphore.QueueFull()) { try await semaphore.withPermit {} }
        await gate.open()
        try await running.value
        try await waiting.value
        try await semaphore.withPermit {}
    }

    @Test("a cancelled task leaves the queue and takes no permit") func cancelled() async throws {
        let semaphore = AsyncSemaphore(permits: 1, maximumWaiting: 2)
        let gate = Gate()
        let running = Task { try await semaphore.withPermit { await gate.pass() } }
        await until { await gate.inside == 1 }
        let waiting = Task { try await semaphore.withPermit { Issue.record("it was cancelled") } }
        await until { await semaphore.waiting == 1 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(await semaphore.waiting == 0)
        await gate.open()
        try await running.value
        try await semaphore.withPermit {}
    }

    @Test("a body that throws returns its permit") func failing() async throws {
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
        await until { await long.inside == 1 }
        let waiting = Task { try await semaphore.withPermit { await long.pass() } }
        await until { await semaphore.waiting == 1 }
        let first = Task { try await semaphore.withPermit(isShort: true) { await short.pass() } }
        await until { await short.inside == 1 }
        // The queue of long tasks is full; short ones have one of their own.
        await #expect(throws: AsyncSemaphore.QueueFull()) { try await semaphore.withPermit {} }
        let second = Task { try await semaphore.withPermit(isShort: true) { await short.pass() } }
        await until { await semaphore.waiting == 2 }
        await short.open()
        try await first.value
        try await second.value
        #expect(await long.inside == 1, "a reserved permit is not passed on to a long task")
        #expect(await semaphore.waiting == 1)
        await long.open()
        try await running.value
        try await waiting.value
        try await semaphore.withPermit {}
        try await semaphore.withPermit(isShort: true) {}
    }
}
