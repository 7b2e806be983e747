import Concurrency
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import TestKit
import Testing

@testable import HTTPTypes
@testable import Server

@Suite struct ResponseAnnotationsTests {
    @Test("Annotations can be taken once")
    func once() {
        let annotations = ResponseAnnotations()
        annotations.update { $0.changeToken = .unlimited }
        #expect(annotations.take().changeToken != nil)
        #expect(annotations.take().changeToken == nil)
    }

    @Test("A response without a change token or a record has no ticket of the cache")
    func tickets() {
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        let record = RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        var values = ResponseAnnotations.Values()
        #expect(ResponseCache.Ticket(values) == nil)
        values.record = record
        #expect(ResponseCache.Ticket(values) == nil)
        values.changeToken = .unlimited
        #expect(ResponseCache.Ticket(values)?.keepsDate == false)
        values.originDate = "Tue, 15 Nov 1994 08:12:31 GMT"
        #expect(ResponseCache.Ticket(values)?.keepsDate == true)
    }

    @Test("The task that serves a connection has its annotations, and no other task")
    func taskLocal() {
        let annotations = ResponseAnnotations()
        #expect(ResponseAnnotations.ofConnection == nil)
        ResponseAnnotations.$ofConnection.withValue(annotations) {
            #expect(ResponseAnnotations.ofConnection === annotations)
        }
        #expect(ResponseAnnotations.ofConnection == nil)
    }
}

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

@Suite struct InterimResponsesTests {
    private static let hints = HTTPResponse(status: .init(code: 103, reasonPhrase: "Early Hints"))
    private static let sent = "HTTP/1.1 103 Early Hints\r\n\r\n"

    private func request(_ connection: EmbeddedConnection, version: String = "1.1") -> @Sendable (HTTPResponse) -> Void
    {
        connection.receive("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
        return connection.annotations.interim.sender()
    }

    private func send(_ send: (HTTPResponse) -> Void, on connection: EmbeddedConnection) throws -> String {
        send(Self.hints)
        connection.channel.embeddedEventLoop.run()
        return try connection.sent()
    }

    @Test("SRV-07 Interim responses go out before the response to their request, and never after it has begun")
    func order() throws {
        let connection = try EmbeddedConnection()
        let first = request(connection)
        for _ in 1...2 { #expect(try send(first, on: connection) == Self.sent) }
        connection.application.begin(headers: ["Content-Length": "2"])
        connection.application.write("o")
        _ = try connection.sent()
        #expect(try send(first, on: connection) == "")
        connection.application.write("k")
        connection.application.end()
        #expect(try connection.sent() == "k")
        #expect(try send(first, on: connection) == "")
        let second = request(connection)
        #expect(try send(first, on: connection) == "", "a late one is not for the next request")
        #expect(try send(second, on: connection) == Self.sent)
    }

    @Test("SRV-07 A client of HTTP/1.0 gets no interim response, nor one that takes no bytes")
    func withheld() throws {
        let old = try EmbeddedConnection()
        #expect(try send(request(old, version: "1.0"), on: old) == "")
        let full = try EmbeddedConnection()
        let sender = request(full)
        full.channel.isWritable = false
        full.channel.pipeline.fireChannelWritabilityChanged()
        #expect(try send(sender, on: full) == "")
        full.channel.isWritable = true
        full.channel.pipeline.fireChannelWritabilityChanged()
        #expect(try send(sender, on: full) == Self.sent)
    }

    @Test("An interim response to a closed connection is dropped")
    func closed() throws {
        let connection = try EmbeddedConnection()
        let sender = request(connection)
        connection.channel.close(promise: nil)
        connection.channel.embeddedEventLoop.run()
        #expect(try send(sender, on: connection) == "")
    }
}
