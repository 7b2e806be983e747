import NIOCore
import NIOEmbedded
import Synchronization
import TestKit
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(10))) struct ClientPresenceTests {
    private static let interim = "HTTP/1.1 102 Processing\r\n\r\n"
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

    @Test("TRUST-10 a client that leaves before the work begins is noticed as well")
    func leavesAtOnce() async throws {
        try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in try await client.send(Self.post) }
            for await _ in server.departures { break }
        }
    }

    @Test("TRUST-10 a client that takes an interim response and closes its socket then is noticed as well")
    func leavesLater() async throws {
        try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(Self.post)
                await server.gate.arrivals()
                client.finish()
                let interim = try await client.receive(until: "\r\n\r\n")
                #expect(interim == Self.interim)
            }
            for await _ in server.departures { break }
        }
    }

    @Test("TRUST-10 interim responses go on while work is running that is given up, and only then")
    func probes() throws {
        let connection = try EmbeddedConnection()
        let cancellations = Atomic(0)
        connection.receive(Self.post)
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        connection.advance(seconds: 10)
        #expect(try connection.sent() == "")
        let presence = connection.annotations.presence
        let first = presence.begin { cancellations.add(1, ordering: .relaxed) }
        for _ in 1...3 {
            connection.channel.embeddedEventLoop.run()
            #expect(try connection.sent() == Self.interim)
            connection.advance(seconds: 1)
            #expect(try connection.sent() == "")
            connection.advance(seconds: 1)
        }
        #expect(try connection.sent() == Self.interim)
        presence.end(first)
        connection.advance(seconds: 10)
        #expect(try connection.sent() == "")
        _ = presence.begin { cancellations.add(1, ordering: .relaxed) }
        connection.channel.embeddedEventLoop.run()
        #expect(try connection.sent() == Self.interim)
        connection.channel.pipeline.fireChannelInactive()
        #expect(cancellations.load(ordering: .relaxed) == 1)
        connection.advance(seconds: 10)
        #expect(try connection.sent() == "")
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
        // On a machine under load there may be several.
        #expect(response.hasPrefix(Self.interim))
        #expect(response.replacing(Self.interim, with: "").hasPrefix("HTTP/1.1 200 OK"))
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

    @Test("Work for a disconnected client is not begun; the caller's cancellation reaches it") func cancelled()
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
            try await presence.whilePresent { Issue.record("work was begun") }
        }
    }
}
