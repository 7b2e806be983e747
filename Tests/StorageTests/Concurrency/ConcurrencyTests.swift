import Testing

@testable import Concurrency
@testable import TestKit

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

@Suite("Locks by key")
struct KeyedMutexTests {
    @Test("Keys are granted in order of arrival; bodies that lock two keys in opposite order never deadlock")
    func order() async throws {
        let mutex = KeyedMutex()
        let (order, note) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (start, begin) = AsyncStream.makeStream(of: Void.self)
            group.addTask {
                try await mutex.holding(["a"]) { for await _ in start {} }
            }
            for number in 1...5 {
                if number == 1 { await BoundedWait.poll(for: "the first holder") { mutex.isHeld("a") } }
                let wanted = number.isMultiple(of: 2) ? ["a", "b"] : ["b", "a"]
                group.addTask { try await mutex.holding(wanted) { _ = note.yield(number) } }
                await BoundedWait.poll(for: "waiter \(number)") { mutex.waiting(for: "a") == number }
            }
            begin.finish()
            try await group.waitForAll()
        }
        note.finish()
        #expect(await order.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4, 5])
        #expect(mutex.waiting(for: "a") == 0)
        struct Fault: Error {}
        await #expect(throws: Fault.self) { try await mutex.holding(["a"]) { throw Fault() } }
        #expect(!mutex.isHeld("a"), "an error releases the key")
    }

    @Test("A wait with an end gives the key up when it is over, and takes it if it is free before")
    func timeout() async throws {
        let mutex = KeyedMutex()
        let (start, begin) = AsyncStream.makeStream(of: Void.self)
        async let holder: Void = mutex.holding(["a"]) { for await _ in start {} }
        await BoundedWait.poll(for: "the holder") { mutex.isHeld("a") }
        let isOver: @Sendable () async throws -> Void = {}
        // The time may be over before the wait begins: none of many waits is without an end.
        for _ in 1...2000 {
            await #expect(throws: KeyedMutex.WaitTooLong.self) {
                try await mutex.holding(["a"], timeout: isOver) { Issue.record("the key was held") }
            }
        }
        #expect(mutex.waiting(for: "a") == 0)
        begin.finish()
        try await holder
        let isTaken = try await mutex.holding(["a"], timeout: isOver) { true }
        #expect(isTaken && !mutex.isHeld("a"))
    }
}

@Suite(.timeLimit(.minutes(10)))
struct BackgroundTasksTests {
    private let tasks = BackgroundTasks()
    private let gate = Gate()

    @Test("SRV-07 A validation in the background leaves nothing behind when it has ended")
    func ends() async {
        for _ in 0..<3 { tasks.start { [gate] in await gate.pass() } }
        #expect(tasks.count == 3)
        gate.open()
        await BoundedWait.poll(for: "the end of the tasks") { tasks.count == 0 }
        tasks.stop()
        tasks.start {}
        #expect(tasks.count == 0)
    }

    @Test("Stopping cancels the tasks under way")
    func stop() async {
        let wasCancelled = Watched<Bool?>(nil)
        tasks.start { [gate] in
            await gate.pass()
            let isCancelled = Task.isCancelled
            wasCancelled.update { $0 = isCancelled }
        }
        await gate.arrivals(1)
        tasks.stop()
        await wasCancelled.until { $0 != nil }
        #expect(wasCancelled.value == true)
        #expect(tasks.count == 0)
    }
}

@Suite(.timeLimit(.minutes(10))) struct BoundedWaitTests {
    @Test("A test that waits in vain fails, and says for what")
    func inVain() async {
        await withKnownIssue {
            await BoundedWait.run(for: "what never happens", at: #_sourceLocation, steps: 1) {
                await Gate().pass()
                return false
            }
        } matching: {
            $0.comments.map(\.rawValue) == ["waited in vain for what never happens"]
        }
    }

    @Test("A wait ends as soon as it happens")
    func happens() async {
        let value = Watched(0)
        async let wait: Void = value.until { $0 == 1 }
        value.update { $0 = 1 }
        await wait
        await value.until { $0 == 1 }
    }
}

@Suite struct RandomnessTests {
    private static func drawn(_ randomness: Randomness?) -> [UInt64] {
        Randomness.$current.withValue(randomness) { (0..<4).map { _ in Randomness.number(for: "a") } }
    }

    @Test("One seed draws one sequence, also again from its beginning; another seed, and none, draw others")
    func sequence() {
        let seeded = Randomness(seed: 7)
        let first = Self.drawn(seeded)
        #expect(Set(first).count == 4)
        #expect(Self.drawn(seeded) != first)
        seeded.reset()
        #expect(Self.drawn(seeded) == first)
        #expect(Self.drawn(Randomness(seed: 8)) != first)
        #expect(Self.drawn(nil) != first && Self.drawn(nil) != Self.drawn(nil))
    }

    @Test("The numbers of one purpose do not depend on those of another; tasks draw from the sequence of their server")
    func purposes() async {
        let alone = Randomness.$current.withValue(Randomness(seed: 7)) { Randomness.bytes(33, for: "a") }
        #expect(alone.count == 33)
        let beside = await Randomness.$current.withValue(Randomness(seed: 7)) {
            _ = Randomness.fraction(for: "b")
            return await Task { Randomness.bytes(33, for: "a") }.value
        }
        #expect(beside == alone)
    }
}

struct RoundRobinQueueTests {
    @Test("TRUST-18 The only thing of a client is next but one, whatever another one has waiting")
    func turns() {
        var turns = RoundRobinQueue<String, Int>()
        for number in 0..<1000 { #expect(turns.append(number, of: "busy") == true) }
        #expect(turns.append(-1, of: "calm") == true)
        #expect((0..<4).map { _ in turns.popFirst() } == [0, -1, 1, 2])
        #expect(turns.append(-2, of: "calm") == true)
        #expect((0..<3).map { _ in turns.popFirst() } == [3, -2, 4])
    }

    @Test("Everything comes out once, that of each client in its order")
    func everything() {
        var random = SeededRandom(seed: 18)
        var turns = RoundRobinQueue<Int, (client: Int, number: Int)>()
        var taken: [Int: [Int]] = [:]
        for number in 0..<2000 {
            let client = Int.random(in: 0..<5, using: &random)
            #expect(turns.append((client, number), of: client) == true)
            guard Bool.random(using: &random), let next = turns.popFirst() else { continue }
            taken[next.client, default: []].append(next.number)
        }
        while let next = turns.popFirst() { taken[next.client, default: []].append(next.number) }
        #expect(turns.isEmpty && turns.popFirst() == nil)
        #expect(taken.values.reduce(0) { $0 + $1.count } == 2000)
        for numbers in taken.values { #expect(numbers == numbers.sorted()) }
    }

    @Test("TRUST-21 Addresses take turns, however many elements one of them has, and those without one as well")
    func addresses() {
        var turns = RoundRobinQueue<String?, Int>(maximum: 100, maximumPerClient: 50)
        for number in 0..<50 { #expect(turns.append(number, of: "storm") == true) }
        #expect(turns.append(100, of: "honest") == true)
        #expect(turns.append(101, of: nil) == true)
        let order = (0..<53).map { _ in turns.popFirst() }
        #expect(order == [0, 100, 101] + (1..<50).map { $0 } + [nil])
    }

    @Test("TRUST-21 A full queue of one client refuses that client only; a full queue refuses all")
    func limits() {
        var turns = RoundRobinQueue<String, Int>(maximum: 5, maximumPerClient: 3)
        for number in 0..<3 { #expect(turns.append(number, of: "a") == true) }
        #expect(turns.append(3, of: "a") == false)
        #expect(turns.append(4, of: "b") == true)
        #expect(turns.append(5, of: "b") == true)
        #expect(turns.append(6, of: "c") == false)
        _ = turns.popFirst()
        #expect(turns.append(7, of: "c") == true)
    }
}
