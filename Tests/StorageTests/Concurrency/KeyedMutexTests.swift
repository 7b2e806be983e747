import TestKit
import Testing

@testable import Concurrency

@Suite("Locks by key")
struct KeyedMutexTests {
    @Test(
        "Keys are granted in the order of arrival; bodies that lock the same two keys in opposite order never deadlock"
    )
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
