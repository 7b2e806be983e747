import NIOCore
import Synchronization
import TestKit
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(1))) struct ClientPresenceTests {
    private static let post = "POST /present HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"

    @Test("TRUST-10 work is cancelled when its client closes its socket") func leaves() async throws {
        try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(Self.post)
                await server.gate.arrivals()
            }
            for await _ in server.departures { break }
        }
    }

    @Test("TRUST-10 a client that has left before the work begins is noticed as well") func leavesAtOnce() async throws
    {
        try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in try await client.send(Self.post) }
            for await _ in server.departures { break }
        }
    }

    @Test("A client that only closes its output waits on: it gets an interim response, then the response")
    func halfCloses() async throws {
        let response = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(Self.post)
                await server.gate.arrivals()
                client.finish()
                let interim = try await client.receive(until: "\r\n\r\n")
                server.gate.open()
                return interim + (await client.receiveToEnd())
            }
        }
        #expect(response.hasPrefix("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK"))
        #expect(response.hasSuffix("stayed"))
    }

    @Test("An HTTP/1.0 client gets no interim response") func old() async throws {
        let response = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send("POST /present HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc")
                await server.gate.arrivals()
                client.finish()
                server.gate.open()
                return await client.receiveToEnd()
            }
        }
        #expect(response.hasPrefix("HTTP/1.0 200 OK"))
    }

    @Test("Work for a client that has left is not begun; the caller's cancellation reaches it") func cancelled()
        async throws
    {
        let presence = ClientPresence()
        let gate = Gate()
        let task = Task { try await presence.whilePresent { try await gate.passUnlessCancelled() } }
        await gate.arrivals()
        #expect(presence.isAwaited)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!presence.isAwaited)
        presence.left()
        await #expect(throws: CancellationError.self) {
            try await presence.whilePresent { try Task.checkCancellation() }
        }
    }
}
