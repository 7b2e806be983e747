import Synchronization
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(1))) struct AsyncSemaphoreTests {
    /// Holds jobs until it is opened, and counts those that are in it.
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

    @Test("no more run at a time than there are slots, and all run") func bounded() async throws {
        let slots = AsyncSemaphore(children: 2, waiting: 10)
        let gate = Gate()
        let tasks = (0..<6).map { number in
            Task {
                try await slots.run {
                    await gate.pass()
                    return number
                }
            }
        }
        await until { await gate.inside == 2 }
        await until { await slots.waiting == 4 }
        await gate.open()
        var done: [Int] = []
        for task in tasks { done.append(try await task.value) }
        #expect(done == [0, 1, 2, 3, 4, 5])
        #expect(await gate.most == 2)
    }

    @Test("a queue that is full refuses at once") func overloaded() async throws {
        let slots = AsyncSemaphore(children: 1, waiting: 1)
        let gate = Gate()
        let running = Task { try await slots.run { await gate.pass() } }
        await until { await gate.inside == 1 }
        let waiting = Task { try await slots.run { await gate.pass() } }
        await until { await slots.waiting == 1 }
        await #expect(throws: MediaError.overloaded) { try await slots.run {} }
        await gate.open()
        try await running.value
        try await waiting.value
        try await slots.run {}
    }

    @Test("whoever gives up waiting leaves the queue, and costs nobody a slot") func cancelled() async throws {
        let slots = AsyncSemaphore(children: 1, waiting: 2)
        let gate = Gate()
        let running = Task { try await slots.run { await gate.pass() } }
        await until { await gate.inside == 1 }
        let waiting = Task { try await slots.run { Issue.record("it was cancelled") } }
        await until { await slots.waiting == 1 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(await slots.waiting == 0)
        await gate.open()
        try await running.value
        try await slots.run {}
    }

    @Test("a job that fails gives its slot back") func failing() async throws {
        let slots = AsyncSemaphore(children: 1, waiting: 0)
        await #expect(throws: MediaError.encrypted) { try await slots.run { throw MediaError.encrypted } }
        try await slots.run {}
    }
}
