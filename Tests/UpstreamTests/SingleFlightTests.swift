import Testing

@testable import Upstream

struct InFlightTableTests {
    private var table = InFlightTable<String, String>()

    @Test("The first leads, the others follow; keys are apart")
    mutating func roles() {
        #expect(table.join("a", "1").role == .lead)
        #expect(table.join("a", "2").role == .follow)
        #expect(table.join("b", "3").role == .lead)
        #expect(Set(table.complete("a")) == ["1", "2"])
        #expect(table.complete("b") == ["3"])
    }

    @Test("After landing the next one leads again, and nobody is told twice")
    mutating func landing() {
        _ = table.join("a", "1")
        #expect(table.complete("a") == ["1"])
        #expect(table.complete("a").isEmpty)
        #expect(table.join("a", "2").role == .lead)
    }

    @Test("Who leaves is not told; the flight goes on, without anybody if need be")
    mutating func leaving() {
        let (_, ticket) = table.join("a", "1")
        #expect(table.leave("a", ticket: ticket) == "1")
        #expect(table.leave("a", ticket: ticket) == nil)
        #expect(table.join("a", "2").role == .follow)
        #expect(table.complete("a") == ["2"])
        #expect(table.leave("a", ticket: ticket) == nil)
    }

    @Test("A ticket is of one flight: it opens nothing in the next of the same key")
    mutating func tickets() {
        let (_, old) = table.join("a", "1")
        _ = table.complete("a")
        let (_, new) = table.join("a", "2")
        #expect(old != new)
        #expect(table.leave("a", ticket: old) == nil)
        #expect(table.leave("b", ticket: new) == nil)
        #expect(table.complete("a") == ["2"])
    }
}

@Suite(.timeLimit(.minutes(1)))
struct SingleFlightTests {
    private let clock = ManualClock()

    @Test(
        "Under any interleaving everybody gets the result of a flight that began no earlier than the last one ended, and none is lost"
    )
    func stress() async throws {
        let flights = SingleFlight<Int, Int>(clock: clock.wallClock)
        let started = Watched(0)
        await withTaskGroup(of: Bool.self) { group in
            for reader in 0..<2000 {
                group.addTask {
                    let (arrival, _) = await flights.run(reader % 7, patience: reader % 3 == 0 ? .seconds(1) : nil) {
                        () async throws(UpstreamError) -> Int in
                        await Task.yield()
                        return started.update { count in
                            count += 1
                            return count
                        }
                    }
                    guard case .completed(.success) = arrival else { return false }
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
        let flights = SingleFlight<Int, Int>(clock: clock.wallClock)
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<1000 {
                group.addTask {
                    let waiting = Task {
                        await flights.run(reader % 5, patience: reader % 2 == 0 ? .seconds(1) : nil) {
                            () async throws(UpstreamError) -> Int in
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
            let (arrival, _) = await flights.run(key, patience: nil) { () async throws(UpstreamError) -> Int in 2 }
            guard case .completed(.success) = arrival else {
                Issue.record("key \(key) is stuck")
                continue
            }
        }
    }

    @Test("Without any patience the work is begun all the same, and its result is taken if it is there")
    func noPatience() async throws {
        let flights = SingleFlight<Int, Int>(clock: clock.wallClock)
        let gate = Gate()
        let (arrival, collapsed) = await flights.run(1, patience: .zero) { () async throws(UpstreamError) -> Int in
            await gate.pass()
            return 1
        }
        guard case .abandoned = arrival else {
            Issue.record("nothing has landed yet")
            return
        }
        #expect(!collapsed)
        await gate.arrivals(1)
        gate.open()
    }

    @Test("A failure is a landing")
    func failure() async throws {
        let flights = SingleFlight<Int, Int>(clock: clock.wallClock)
        let (arrival, _) = await flights.run(1, patience: nil) { () async throws(UpstreamError) -> Int in
            throw .notStored
        }
        guard case .completed(.failure(.notStored)) = arrival else {
            Issue.record("\(arrival)")
            return
        }
    }
}
