import Freshness
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import TestKit
import Testing

@testable import HTTPServer

@Suite("The response cache") struct ResponseCacheTests {
    private static let now = NIODeadline.uptimeNanoseconds(1)

    private static func store(budget: Int, entries: Int = 65_536) -> ResponseCache {
        ResponseCache(
            budgetBytes: budget,
            entries: entries,
            run: "run",
            logger: .quiet
        )
    }

    private static let ticket: ResponseCache.Ticket = {
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        return ResponseCache.Ticket(
            changeToken: .unlimited,
            record: RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        )
    }()

    private static func key(_ number: Int) -> ByteBuffer {
        ByteBuffer(string: "GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    private static func bytes(_ count: Int) -> ByteBuffer {
        ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n" + String(repeating: "x", count: count))
    }

    @Test("SRV-11 Ten thousand different heads leave it within its budget")
    func budget() {
        let responses = Self.store(budget: 1 << 20)
        for number in 0..<10_000 {
            responses.record(Self.bytes(4000), Self.ticket, for: Self.key(number), now: Self.now)
        }
        #expect(responses.size.bytes <= 1 << 20)
        #expect(responses.size.entries > 100)
    }

    @Test("SRV-11 The number of responses is bounded as well")
    func entries() {
        let responses = Self.store(budget: 64 << 20, entries: 800)
        for number in 0..<10_000 {
            responses.record(Self.bytes(1), Self.ticket, for: Self.key(number), now: Self.now)
        }
        #expect(responses.size.entries <= 800)
    }

    @Test("Used entries stay while unused ones are evicted")
    func leastRecentlyUsed() {
        let responses = Self.store(budget: 1 << 20)
        responses.record(Self.bytes(4000), Self.ticket, for: Self.key(-1), now: Self.now)
        for number in 0..<3000 {
            #expect(responses.response(to: Self.key(-1), now: Self.now) != nil)
            responses.record(Self.bytes(4000), Self.ticket, for: Self.key(number), now: Self.now)
        }
        #expect(responses.response(to: Self.key(0), now: Self.now) == nil)
        #expect(responses.response(to: Self.key(2999), now: Self.now) != nil)
    }

    @Test("SRV-05 Nothing survives a sleep of the machine, during which the clock of the event loops is stopped")
    func sleep() {
        let slept = NIOLockedValueBox<Int64>(7)
        let sleep = SleepWatch(slept: { slept.withLockedValue(\.self) })
        let responses = ResponseCache(
            budgetBytes: 1 << 20,
            run: "run",
            sleep: sleep,
            logger: .quiet
        )
        for number in 0..<20 { responses.record(Self.bytes(10), Self.ticket, for: Self.key(number), now: Self.now) }
        slept.withLockedValue { $0 += 400 }
        #expect(responses.response(to: Self.key(1), now: Self.now) != nil)
        slept.withLockedValue { $0 += 3_600_000 }
        #expect(
            (0..<20).allSatisfy { responses.response(to: Self.key($0), now: Self.now) == nil }
                && responses.size == (0, 0)
        )
        responses.record(Self.bytes(10), Self.ticket, for: Self.key(1), now: Self.now)
        #expect(responses.response(to: Self.key(1), now: Self.now) != nil)
    }

    @Test("One response that is larger than the budget is not cached")
    func tooLarge() {
        let responses = Self.store(budget: 64 << 10)
        responses.record(Self.bytes(60_000), Self.ticket, for: Self.key(1), now: Self.now)
        #expect(responses.size.bytes <= 64 << 10)
        #expect(responses.response(to: Self.key(1), now: Self.now) == nil)
    }

    @Test("An expired entry frees its bytes when it is requested")
    func forgotten() {
        let (responses, stamp) = (Self.store(budget: 1 << 20), VersionCounter())
        responses.record(
            Self.bytes(4000),
            ResponseCache.Ticket(changeToken: ChangeToken(of: stamp), record: Self.ticket.record),
            for: Self.key(1),
            now: Self.now
        )
        stamp.bump()
        #expect(responses.response(to: Self.key(1), now: Self.now) == nil)
        #expect(responses.size.bytes < 1000)
    }

    @Test("A body that is shorter than its head says is not kept")
    func truncated() {
        let responses = Self.store(budget: 1 << 20)
        responses.record(
            ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"),
            Self.ticket,
            for: Self.key(1),
            now: Self.now
        )
        #expect(responses.size.entries == 0)
    }
}
