import Concurrency
import Foundation
import Synchronization
import TestKit
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(1))) struct VirtualClockTests {
    private let machine = ManualClock()
    private let clock: VirtualClock

    init() { clock = VirtualClock(machine.wallClock) }

    /// Counts how often something was done.
    private final class Tally: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    @Test("It runs as the machine's until it is set, then from there; it goes back only with a reset")
    func set() async {
        #expect(clock.now == machine.now && clock.wallClock.testTime == nil)
        #expect(await clock.set(frozen: false))
        #expect(clock.wallClock.testTime == nil)
        let later = machine.now + 1000
        #expect(await clock.set(later))
        #expect(clock.wallClock.testTime == later)
        machine.advance(by: .seconds(5))
        #expect(clock.now == later + 5)
        #expect(await !clock.set(later))
        #expect(clock.now == later + 5)
        clock.reset()
        #expect(clock.now == machine.now && !clock.isShifted)
    }

    @Test("HARN-04 it shows the machine's time again, also if it began at another one and stands still")
    func real() async {
        let clock = VirtualClock(machine.wallClock, start: machine.now + 1000, isFrozen: true)
        #expect(clock.isShifted)
        clock.restore(.real)
        machine.advance(by: .seconds(1))
        #expect(clock.now == machine.now && !clock.isFrozen && !clock.isShifted)
    }

    @Test("It begins at its start, frozen if that is wanted, and a reset begins there again")
    func start() async {
        let start = Date(timeIntervalSince1970: 1_893_456_000)
        let clock = VirtualClock(machine.wallClock, start: start, isFrozen: true)
        machine.advance(by: .seconds(1))
        #expect(clock.now == start && clock.isFrozen)
        await clock.advance(by: 61)
        #expect(await clock.set(frozen: false))
        machine.advance(by: .seconds(5))
        #expect(clock.now == start + 66)
        clock.reset()
        machine.advance(by: .seconds(1))
        #expect(clock.now == start && clock.isFrozen)
    }

    @Test("HARN-04 a frozen clock stands still while time passes, moves by steps, and runs on from there")
    func frozen() async {
        let start = clock.now
        #expect(await clock.set(frozen: true))
        machine.advance(by: .seconds(1))
        #expect(clock.now == start)
        await clock.advance(by: 61)
        machine.advance(by: .seconds(1))
        #expect(clock.now == start + 61)
        #expect(await clock.set(frozen: false))
        machine.advance(by: .seconds(2))
        #expect(clock.now == start + 63)
    }

    @Test("HARN-05 what has become due is done before the clock has been moved on, and nothing else")
    func due() async throws {
        let (early, late) = (Tally(), Tally())
        let clock = clock
        let first = Task { try await clock.wallClock.run(after: .seconds(60)) { early.add() } }
        let second = Task { try await clock.wallClock.run(after: .seconds(62)) { late.add() } }
        await machine.sleepers(of: .seconds(60))
        await machine.sleepers(of: .seconds(62))
        await clock.advance(by: 61)
        #expect((early.value, late.value) == (1, 0))
        try await first.value
        await clock.advance(by: 1)
        #expect((early.value, late.value) == (1, 1))
        try await second.value
    }

    @Test("HARN-06 what is due together is done one after the other, by its time, then in the order of its setting")
    func order() async {
        let (clock, done) = (clock, Watched<[String]>([]))
        #expect(await clock.set(frozen: true))
        var tasks: [Task<Void, any Error>] = []
        for (name, span) in [("c", 9), ("a", 5), ("b", 5), ("d", 9), ("later", 62)] {
            tasks.append(
                clock.wallClock.schedule(after: .seconds(span)) {
                    done.update { $0.append("\(name) begins") }
                    for _ in 0..<20 { await Task.yield() }
                    done.update { $0.append("\(name) ends") }
                }
            )
        }
        // A timer is there as soon as it was set.
        await clock.advance(by: 61)
        #expect(done.value == ["a", "b", "c", "d"].flatMap { ["\($0) begins", "\($0) ends"] })
        tasks[4].cancel()
        await clock.advance(by: 61)
        #expect(done.value.count == 8)
    }

    @Test("A clock that runs does what is due as time passes; a timer that is cancelled does nothing")
    func running() async throws {
        let (done, cancelled) = (Tally(), Tally())
        let clock = clock
        let timer = Task { try await clock.wallClock.run(after: .seconds(5)) { done.add() } }
        let other = Task { try await clock.wallClock.run(after: .seconds(7)) { cancelled.add() } }
        await machine.sleepers(of: .seconds(5))
        await machine.sleepers(of: .seconds(7))
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        machine.advance(by: .seconds(5))
        try await timer.value
        machine.advance(by: .seconds(5))
        await clock.advance(by: 10)
        #expect((done.value, cancelled.value) == (1, 0))
    }

    @Test("A timer that was set while the clock stood still rings in its time once the clock runs")
    func thawed() async throws {
        let done = Tally()
        let clock = clock
        #expect(await clock.set(frozen: true))
        let timer = Task { try await clock.wallClock.run(after: .seconds(30)) { done.add() } }
        machine.advance(by: .seconds(60))
        await clock.advance(by: 10)
        #expect(done.value == 0)
        #expect(await clock.set(frozen: false))
        machine.advance(by: await machine.nextSleep())
        try await timer.value
        #expect(done.value == 1)
    }
}
