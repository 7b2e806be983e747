import AsyncHTTPClient
import JSONValues
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import TestKit
import Testing

@testable import Sandbox

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
