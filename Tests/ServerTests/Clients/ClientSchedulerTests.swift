import Concurrency
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestKit
import Testing

@testable import Server

struct ClientSchedulerTests {
    /// A queue whose rounds the test ends.
    private final class Rounds {
        private(set) var ends: [ClientScheduler.RoundEnd] = []
        private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        private(set) lazy var queue = ClientScheduler { [unowned self] _, end in ends.append(end) }

        func pass(_ time: TimeAmount) { now = now + time }

        /// Returns a client after one with another address was served.
        func client(beside other: String) -> ClientScheduler.Client {
            let client = queue.add(IPAddress("192.0.2.1"))
            for client in [client, queue.add(IPAddress(other))] {
                _ = queue.begins(.cachedResponse, of: client, now: now)
            }
            return client
        }

        func endRound() {
            ends.removeFirst()
            queue.roundEnded(now: now)
        }
    }

    @Test("TRUST-18 A client that has had its part of a round waits; another one is served at once")
    func parts() {
        let rounds = Rounds()
        let (busy, calm) = (rounds.queue.add(IPAddress("192.0.2.1")), rounds.queue.add(IPAddress("192.0.2.2")))
        #expect((0..<1000).allSatisfy { _ in rounds.queue.begins(.request, of: busy, now: rounds.now) }, "it is alone")
        #expect(rounds.queue.begins(.request, of: calm, now: rounds.now))
        let begun = (0..<100).count { _ in rounds.queue.begins(.request, of: busy, now: rounds.now) }
        #expect((2...16).contains(begun))
        #expect(rounds.queue.begins(.request, of: calm, now: rounds.now))
        #expect(rounds.ends.isEmpty, "nothing waits yet")
    }

    @Test("TRUST-18 Clients take turns, however much work of one waits")
    func turns() {
        let rounds = Rounds()
        let busy = rounds.queue.add(IPAddress("192.0.2.1"))
        let others = (2...5).map { rounds.queue.add(IPAddress("192.0.2.\($0)")) }
        var order: [Int] = []
        for _ in 0..<1000 { rounds.queue.enqueue(.request, of: busy) { order.append(0) } }
        for (number, client) in others.enumerated() {
            rounds.queue.enqueue(.request, of: client) { order.append(number + 1) }
        }
        #expect(rounds.ends.count == 1)
        rounds.endRound()
        #expect(order.prefix(5) == [0, 1, 2, 3, 4])
        #expect((5...32).contains(order.count), "a round is short")
        while !rounds.ends.isEmpty { rounds.endRound() }
        #expect(order.count == 1004)
    }

    @Test("A round in which the application got work ends when its threads have begun it, another one with the tick")
    func ends() {
        let rounds = Rounds()
        let client = rounds.client(beside: "192.0.2.2")
        #expect(rounds.queue.begins(.cachedResponse, of: client, now: rounds.now))
        rounds.queue.enqueue(.cachedResponse, of: client) {}
        #expect(rounds.ends.map(\.isApplicationBehind) == [false])
        rounds.endRound()
        #expect(rounds.queue.begins(.request, of: client, now: rounds.now))
        rounds.queue.enqueue(.request, of: client) {}
        #expect(rounds.ends.map(\.isApplicationBehind) == [true])
    }

    @Test("TRUST-18 Clients with waiting work pause while a calm one is served; without one they do not")
    func pauses() {
        let rounds = Rounds()
        let (busy, calm) = (rounds.queue.add(IPAddress("192.0.2.1")), rounds.queue.add(IPAddress("192.0.2.2")))
        rounds.queue.enqueue(.request, of: busy) {}
        #expect(rounds.ends.map(\.isShared) == [false])
        rounds.endRound()
        rounds.pass(.milliseconds(2))
        for client in [busy, calm] { #expect(rounds.queue.begins(.request, of: client, now: rounds.now)) }
        rounds.queue.enqueue(.request, of: busy) {}
        #expect(rounds.ends.map(\.isShared) == [true])
    }

    @Test("TRUST-18 Clients with many connections pause for several times what they took, beside a calm one")
    func crowdedPauses() throws {
        func pause(connections: Int, after took: TimeAmount) throws -> TimeAmount {
            let rounds = Rounds()
            let (busy, calm) = (rounds.queue.add(IPAddress("192.0.2.1")), rounds.queue.add(IPAddress("192.0.2.2")))
            for _ in 1..<connections { _ = rounds.queue.add(IPAddress("192.0.2.1")) }
            rounds.pass(.milliseconds(2))
            for client in [busy, calm] { _ = rounds.queue.begins(.request, of: client, now: rounds.now) }
            for client in [busy, calm] { _ = rounds.queue.begins(.request, of: client, now: rounds.now) }
            rounds.queue.enqueue(.request, of: busy) {}
            let end = try #require(rounds.ends.first)
            #expect(end.isShared)
            return end.pause(now: rounds.now + took)
        }
        #expect(try pause(connections: 6, after: .milliseconds(2)) == .milliseconds(2), "as long as the round took")
        #expect(try pause(connections: 100, after: .milliseconds(2)) == .milliseconds(8))
        #expect(try pause(connections: 100, after: .microseconds(200)) == .milliseconds(3), "short rounds cost more")
        #expect(try pause(connections: 100, after: .milliseconds(50)) == .milliseconds(20))
    }

    @Test("TRUST-18 While a client that floods pauses, another one has its part of each millisecond")
    func longRounds() {
        let rounds = Rounds()
        let (busy, calm) = (rounds.queue.add(IPAddress("192.0.2.1")), rounds.queue.add(IPAddress("192.0.2.2")))
        for _ in 0..<100 { _ = rounds.queue.add(IPAddress("192.0.2.1")) }
        for client in [calm, busy, calm] { _ = rounds.queue.begins(.arrival, of: client, now: rounds.now) }
        rounds.queue.enqueue(.request, of: busy) {}
        func begun(_ client: ClientScheduler.Client) -> Int {
            (0..<100).prefix { _ in rounds.queue.begins(.request, of: client, now: rounds.now) }.count
        }
        let inFirst = begun(calm)
        #expect((1...8).contains(inFirst), "the client has a part only")
        rounds.pass(.milliseconds(3))
        #expect(begun(calm) >= inFirst)
        #expect(begun(busy) == 0)
    }

    @Test("TRUST-18 Beside a calm client one that floods begins less in a round than alone")
    func smallRounds() {
        func begun(besideCalm: Bool) -> Int {
            let rounds = Rounds()
            let (busy, calm) = (rounds.queue.add(IPAddress("192.0.2.1")), rounds.queue.add(IPAddress("192.0.2.2")))
            for _ in 0..<100 { _ = rounds.queue.add(IPAddress("192.0.2.1")) }
            rounds.pass(.milliseconds(2))
            if besideCalm {
                for client in [busy, calm, busy, calm] {
                    _ = rounds.queue.begins(.arrival, of: client, now: rounds.now)
                }
            }
            var count = 0
            for _ in 0..<100 { rounds.queue.enqueue(.request, of: busy) { count += 1 } }
            rounds.endRound()
            return count
        }
        let alone = begun(besideCalm: false)
        #expect((1...alone / 2).contains(begun(besideCalm: true)))
    }

    @Test("TRUST-18 A connection that is opened counts for several that are only looked at and closed")
    func connections() {
        let rounds = Rounds()
        let client = rounds.client(beside: "192.0.2.2")
        func begun(opening: Bool) -> Int {
            rounds.pass(.milliseconds(2))
            return (0..<100).prefix { _ in
                guard rounds.queue.begins(.arrival, of: client, now: rounds.now) else { return false }
                if opening { rounds.queue.charge(.connection, to: client) }
                return true
            }.count
        }
        let (opened, lookedAt) = (begun(opening: true), begun(opening: false))
        #expect(opened >= 1 && lookedAt >= 4 * opened)
    }

    @Test(
        "TRUST-18 What a request takes beyond its turn counts: a refusal, a failure, a head in parts",
        arguments: [
            ("GET / HTTP/9.9\r\n\r\n", nil, true), ("GET / HTTP/1.1\r\nHost: a\r\nA: a", nil, true),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 401, true), ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200, false),
        ] as [(String, Int?, Bool)]
    )
    func costs(sent: String, status: Int?, isUsedUp: Bool) throws {
        let kept = try CachingConnection(clientUnits: 14)
        kept.connection.receive(sent)
        if let status { kept.application.respond("x", status: HTTPResponseStatus(statusCode: status)) }
        let now = kept.connection.channel.embeddedEventLoop.now
        #expect(kept.connection.share.begins(.arrival, now: now) {} != isUsedUp)
    }

    @Test("TRUST-18 A client is taken for one that floods if it has many connections and has had to wait lately")
    func crowds() {
        let rounds = Rounds()
        let client = rounds.client(beside: "192.0.2.2")
        rounds.queue.enqueue(.arrival, of: client) {}
        #expect(!rounds.queue.isCrowded(client, now: rounds.now), "it has one connection")
        for _ in 0..<100 { _ = rounds.queue.add(IPAddress("192.0.2.1")) }
        #expect(rounds.queue.isCrowded(client, now: rounds.now))
        rounds.pass(.seconds(2))
        #expect(!rounds.queue.isCrowded(client, now: rounds.now))
    }

    @Test("Work of a client that waits already is not overtaken, and waits no longer than one round")
    func order() {
        let rounds = Rounds()
        let client = rounds.client(beside: "192.0.2.2")
        var isRun = false
        rounds.queue.enqueue(.cachedResponse, of: client) { isRun = true }
        rounds.pass(.milliseconds(500))
        #expect(!rounds.queue.begins(.cachedResponse, of: client, now: rounds.now))
        rounds.endRound()
        #expect(isRun && rounds.queue.begins(.cachedResponse, of: client, now: rounds.now))
    }

    @Test("Time gives a client a new part; what it was sent counts")
    func time() {
        let rounds = Rounds()
        let client = rounds.client(beside: "192.0.2.2")
        #expect(rounds.queue.begins(.cachedResponse, of: client, now: rounds.now))
        rounds.queue.count(1000, of: client)
        #expect(!rounds.queue.begins(.cachedResponse, of: client, now: rounds.now))
        rounds.pass(.milliseconds(2))
        #expect(rounds.queue.begins(.cachedResponse, of: client, now: rounds.now))
    }

    @Test("Connections of an address are one client until the last has closed")
    func clients() {
        let rounds = Rounds()
        let address = IPAddress("192.0.2.1")
        let (first, second) = (rounds.queue.add(address), rounds.queue.add(address))
        #expect(first === second && rounds.queue.clientCount == 1)
        rounds.queue.remove(first)
        #expect(rounds.queue.add(address) === second)
        rounds.queue.remove(second)
        rounds.queue.remove(second)
        #expect(rounds.queue.clientCount == 0)
        #expect(rounds.queue.add(nil) !== rounds.queue.add(nil))
    }
}
