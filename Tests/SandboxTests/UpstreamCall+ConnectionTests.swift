import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

/// The bytes that a client without a parser receives, on a clock that only the test moves.
@Suite struct UpstreamCallConnectionTests {
    private static func request(_ fault: String) -> String {
        "GET /spacex/v4/ships HTTP/1.1\r\nHost: localhost\r\nSandbox-Fault: \(fault)\r\n\r\n"
    }

    /// Runs a request with that fault until its head has arrived.
    private func withHead(
        of fault: String,
        after delay: Duration? = nil,
        _ body: @escaping @Sendable (ManualClock, inout RawClient, _ whole: [UInt8]) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        try await withSandbox(clock: clock.monotonic) { sandbox in
            let whole = try await sandbox.get("/spacex/v4/ships").bytes
            try await RawClient.connect(port: sandbox.port) { client in
                try await client.send(Self.request(fault))
                if let delay {
                    #expect(await clock.nextSleep() == delay)
                    clock.advance(by: delay)
                }
                let head = try await client.receive(until: "\r\n\r\n").lowercased()
                #expect(head.hasPrefix("http/1.1 200") && head.contains("content-length: \(whole.count)\r\n"))
                #expect(head.contains("connection: close") == fault.contains("slow_close"))
                try await body(clock, &client, whole)
            }
        }
    }

    @Test("HARN-12 bandwidth: each tenth of a second brings its bytes, none before their time")
    func bandwidth() async throws {
        try await withHead(of: "bandwidth(8)") { clock, client, whole in
            var received: [UInt8] = []
            while received.count < whole.count {
                let piece = min(800, whole.count - received.count)
                // The clock tells whole milliseconds.
                let (time, exact) = (await clock.nextSleep(), Duration.microseconds(piece * 125))
                #expect(time >= exact - .milliseconds(1) && time <= exact + .milliseconds(1))
                let early = client.unreadCount
                #expect(early == 0)
                clock.advance(by: .milliseconds(100))
                received += try await client.receive(bytes: piece)
            }
            #expect(received == whole)
        }
    }

    @Test("HARN-12 slow and bandwidth together: first the one time before the head, then the bytes in theirs")
    func combination() async throws {
        try await withHead(of: "slow(200), bandwidth(1000)", after: .milliseconds(200)) { clock, client, whole in
            #expect(whole.count < 100_000)
            let (time, exact) = (await clock.nextSleep(), Duration.microseconds(whole.count))
            let early = client.unreadCount
            #expect(time >= exact - .milliseconds(1) && time <= exact + .milliseconds(1) && early == 0)
            clock.advance(by: .milliseconds(100))
            let received = try await client.receive(bytes: whole.count)
            #expect(received == whole)
        }
    }

    @Test("HARN-12 slice: pieces of its bytes, each after the pause")
    func slice() async throws {
        try await withHead(of: "slice(3000, 40)") { clock, client, whole in
            var received = try await client.receive(bytes: 3_000)
            while received.count < whole.count {
                #expect(await clock.nextSleep() == .milliseconds(40))
                let early = client.unreadCount
                #expect(early == 0)
                clock.advance(by: .milliseconds(40))
                received += try await client.receive(bytes: min(3_000, whole.count - received.count))
            }
            #expect(received == whole)
        }
    }

    @Test("HARN-12 slow_close: the whole response at once, the end of the connection after the time")
    func slowClose() async throws {
        try await withHead(of: "slow_close(500)") { clock, client, whole in
            let received = try await client.receive(bytes: whole.count)
            #expect(received == whole)
            #expect(await clock.nextSleep() == .milliseconds(500))
            clock.advance(by: .milliseconds(500))
            let rest = await client.receiveToEnd()
            #expect(rest.isEmpty)
        }
    }

    @Test("HARN-12 jitter: the response after a time of the range")
    func jitter() async throws {
        try await withHead(of: "jitter(70, 70, 3)", after: .milliseconds(70)) { _, client, whole in
            let received = try await client.receive(bytes: whole.count)
            #expect(received == whole)
        }
    }

    @Test("HARN-12 reset(after bytes): head and that many bytes, then the connection is reset")
    func resetInBody() async throws {
        try await withSandbox { sandbox in
            let whole = try await sandbox.get("/spacex/v4/ships").bytes
            let exchange = try await RawExchange(port: sandbox.port, send: Self.request("reset(1000)"))
            #expect(exchange.wasReset)
            let end = try #require(exchange.received.firstRange(of: Array("\r\n\r\n".utf8)))
            #expect(Array(exchange.received[end.upperBound...]) == Array(whole.prefix(1_000)))
            let head = String(decoding: exchange.received[..<end.lowerBound], as: UTF8.self).lowercased()
            #expect(head.contains("content-length: \(whole.count)"))
        }
    }

    @Test("HARN-12 refused, as a client of the sandbox itself sees it: a connection that is reset before any byte")
    func refusedDirectly() async throws {
        try await withSandbox { sandbox in
            for fault in ["offline", "refused"] {
                try await sandbox.set(fault)
                let request = "GET /spacex/v4/ships HTTP/1.1\r\nHost: localhost\r\n\r\n"
                let exchange = try await RawExchange(port: sandbox.port, send: request)
                #expect(exchange.wasReset && exchange.received.isEmpty, "\(fault)")
            }
        }
    }

    @Test("a fault of the body leaves a HEAD as it is, and a response without a body")
    func head() async throws {
        try await withSandbox { sandbox in
            for fault in ["bandwidth(1)", "slice(1, 600000)", "pause(1)"] {
                let response = try await sandbox.send(.HEAD, "/spacex/v4/ships", headers: ["Sandbox-Fault": fault])
                #expect(response.status == 200 && response.body.isEmpty)
            }
        }
    }
}
