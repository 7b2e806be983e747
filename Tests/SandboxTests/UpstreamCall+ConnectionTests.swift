import AsyncHTTPClient
import JSONValues
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
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

@Suite struct UpstreamCallHoldTests {
    @Test("SRV-10 hold keeps requests in flight until they are released, and returns how many wait")
    func holdAndRelease() async throws {
        try await withSandbox { sandbox in
            try await sandbox.set("hold")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await sandbox.get("/spacex/v4/ships").status } }
                let entries = try await sandbox.journal(count: 50)
                #expect(entries.allSatisfy { $0["status"] == .null && $0["fault"] == "hold" })
                #expect(try await sandbox.waiting() == 50)
                let released = try await sandbox.send(.POST, "/_sandbox/upstreams/spacex/release").object()
                #expect(released["released"] == 50)
                for try await status in group { #expect(status == 200) }
            }
            #expect(try await sandbox.waiting() == 0)
            #expect(try await sandbox.journal(count: 50).allSatisfy { $0["status"] == 200 })
        }
    }

    @Test("setting another fault keeps what is held; released, it meets that fault")
    func releaseIntoFault() async throws {
        try await withSandbox { sandbox in
            try await sandbox.set("hold")
            async let response = sandbox.get("/spacex/v4/ships")
            _ = try await sandbox.journal(count: 1)
            try await sandbox.set("error(502)")
            #expect(try await sandbox.waiting() == 1)
            _ = try await sandbox.send(.POST, "/_sandbox/upstreams/spacex/release")
            #expect(try await response.status == 502)
            #expect(try await sandbox.journal(count: 1).first?["fault"] == "hold, then error(502)")
        }
    }

    @Test("a held connection continues after its release")
    func keepAlive() async throws {
        try await withSandbox { sandbox in
            let get = { (fault: String) in
                "GET /spacex/v4/admin/health HTTP/1.1\r\nHost: localhost\r\nSandbox-Fault: \(fault)\r\n\r\n"
            }
            async let exchange = RawExchange(
                port: sandbox.port,
                send: get("hold"),
                later: [(after: "OK", send: get("offline"))]
            )
            _ = try await sandbox.journal(count: 1)
            _ = try await sandbox.send(.POST, "/_sandbox/upstreams/spacex/release")
            #expect(try await exchange.text.hasPrefix("HTTP/1.1 200"))
            #expect(try await sandbox.journal(count: 2).last?["fault"] == "offline")
        }
    }

    @Test("a client that hangs up waits no more", .timeLimit(.minutes(10)))
    func hangUp() async throws {
        try await withSandbox { sandbox in
            let call = Task {
                try await RawExchange(
                    port: sandbox.port,
                    send: "GET /spacex/v4/ships HTTP/1.1\r\nHost: localhost\r\nSandbox-Fault: hold\r\n\r\n"
                )
            }
            _ = try await sandbox.journal(count: 1)
            #expect(try await sandbox.waiting() == 1)
            call.cancel()
            _ = await call.result
            // The server learns of it by its socket, which takes a while: it is asked until then.
            while try await sandbox.waiting() != 0 {}
            #expect(try await sandbox.journal(count: 1).first?["status"] == .null)
        }
    }

    @Test("a graceful stop ends held requests and waits, unanswered")
    func gracefulStop() async throws {
        let sandbox = Sandbox(configuration: SandboxConfiguration(), logger: .quiet)
        let group = ServiceGroup(services: [sandbox], logger: .quiet)
        let running = Task { try await group.run() }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let port = try await sandbox.port
        let client2 = RunningSandbox(base: "http://127.0.0.1:\(port)", http: client)
        let held = Task { try await client2.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "hold"]) }
        _ = try await client2.journal(count: 1)
        await group.triggerGracefulShutdown()
        try await running.value
        await #expect(throws: (any Error).self) { try await held.value }
        await #expect(throws: SandboxError.stopped) { try await sandbox.port }
        try await client.shutdown()
    }
}
