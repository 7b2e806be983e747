import TestKit
import Testing

@testable import Concurrency

@Suite(.timeLimit(.minutes(10)))
struct SingleFlightTests {
    private struct Failed: Error {}

    private let clock = ManualClock()

    @Test("In any interleaving each caller gets a result of a flight begun after the last one ended; none is lost")
    func stress() async throws {
        let flights = SingleFlight<Int, Int, Failed>(sleep: clock.wallClock.sleep)
        let started = Watched(0)
        await withTaskGroup(of: Bool.self) { group in
            for reader in 0..<2000 {
                group.addTask {
                    let (outcome, _) = await flights.run(reader % 7, patience: reader % 3 == 0 ? .seconds(1) : nil) {
                        () async throws(Failed) -> Int in
                        await Task.yield()
                        return started.update { count in
                            count += 1
                            return count
                        }
                    }
                    guard case .completed(.success) = outcome else { return false }
                    return true
                }
            }
            for await gotResult in group { #expect(gotResult) }
        }
        #expect(started.value >= 7)
        #expect(clock.count(of: .seconds(1)) == 0, "no patience is left behind")
    }

    @Test("Under any interleaving of landing and cancelling every reader returns exactly once")
    func cancelling() async throws {
        let flights = SingleFlight<Int, Int, Failed>(sleep: clock.wallClock.sleep)
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<1000 {
                group.addTask {
                    let waiting = Task {
                        await flights.run(reader % 5, patience: reader % 2 == 0 ? .seconds(1) : nil) {
                            () async throws(Failed) -> Int in
                            await Task.yield()
                            return 1
                        }
                    }
                    if reader % 4 == 0 { await Task.yield() }
                    waiting.cancel()
                    _ = await waiting.value
                }
            }
        }
        // Nothing is stuck: the keys can be used again.
        for key in 0..<5 {
            let (outcome, _) = await flights.run(key, patience: nil) { () async throws(Failed) -> Int in 2 }
            guard case .completed(.success) = outcome else {
                Issue.record("key \(key) is stuck")
                continue
            }
        }
    }

    @Test("Without any patience the work is begun all the same, and its result is taken if it is there")
    func noPatience() async throws {
        let flights = SingleFlight<Int, Int, Failed>(sleep: clock.wallClock.sleep)
        let gate = Gate()
        let (outcome, collapsed) = await flights.run(1, patience: .zero) { () async throws(Failed) -> Int in
            await gate.pass()
            return 1
        }
        guard case .abandoned = outcome else {
            Issue.record("nothing has landed yet")
            return
        }
        #expect(!collapsed)
        await gate.arrivals(1)
        gate.open()
    }

    @Test("A failure is a landing")
    func failure() async throws {
        let flights = SingleFlight<Int, Int, Failed>(sleep: clock.wallClock.sleep)
        let (outcome, _) = await flights.run(1, patience: nil) { () async throws(Failed) -> Int in
            throw Failed()
        }
        guard case .completed(.failure) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }
}

struct InFlightTableTests {
    private var table = InFlightTable<String, String>()

    private mutating func join(_ key: String, _ waiter: String) -> (
        role: InFlightTable<String, String>.Role, ticket: InFlightTable<String, String>.Ticket
    ) {
        let ticket = table.makeTicket()
        return (table.join(key, waiter, ticket: ticket), ticket)
    }

    @Test("The first leads, the others follow; keys are apart")
    mutating func roles() {
        #expect(join("a", "1").role == .lead)
        #expect(join("a", "2").role == .follow)
        #expect(join("b", "3").role == .lead)
        #expect(Set(table.complete("a")) == ["1", "2"])
        #expect(table.complete("b") == ["3"])
    }

    @Test("After completion the next one leads again, and no waiter is resumed twice")
    mutating func landing() {
        _ = join("a", "1")
        #expect(table.complete("a") == ["1"])
        #expect(table.complete("a").isEmpty)
        #expect(join("a", "2").role == .lead)
    }

    @Test("A waiter that leaves gets no result; the flight continues, even without waiters")
    mutating func leaving() {
        let (_, ticket) = join("a", "1")
        #expect(table.leave("a", ticket: ticket) == "1")
        #expect(table.leave("a", ticket: ticket) == nil)
        #expect(join("a", "2").role == .follow)
        #expect(table.complete("a") == ["2"])
        #expect(table.leave("a", ticket: ticket) == nil)
    }

    @Test("A ticket is of one flight: it opens nothing in the next of the same key")
    mutating func tickets() {
        let (_, old) = join("a", "1")
        _ = table.complete("a")
        let (_, new) = join("a", "2")
        #expect(old != new)
        #expect(table.leave("a", ticket: old) == nil)
        #expect(table.leave("b", ticket: new) == nil)
        #expect(table.complete("a") == ["2"])
    }
}
