import NIOCore
import NIOEmbedded
import NIOSSL
import TestKit
import Testing

@testable import Server

@Suite("Connections on a port for TLS", .timeLimit(.minutes(10)))
struct TLSEntryHandlerTests {
    private static let get = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Runs a server with a certificate of its own.
    private func run<Result: Sendable>(
        _ limits: ConnectionLimits = .standard,
        connections: OpenConnections = OpenConnections(limit: .max, exempt: .none),
        _ body: @escaping @Sendable (LoopbackServer, TestAuthority) async throws -> Result
    ) async throws -> Result {
        let authority = try TestAuthority()
        let context = try authority.context()
        let hosts = HostRules(boundHost: "127.0.0.1", allowed: ["larder.test"])
        let tls = TLSOptions(context: { context }, hosts: hosts)
        return try await LoopbackServer.run(limits, connections: connections, tls: tls) {
            try await body($0, authority)
        }
    }

    @Test("SRV-14 TLS 1.2 and 1.3 are spoken", arguments: [TLSVersion.tlsv12, .tlsv13])
    func spoken(_ version: TLSVersion) async throws {
        try await run { server, authority in
            try await RawClient.connect(port: server.port, tls: authority.client(version: version)) { client in
                for _ in 1...2 {
                    try await client.send(Self.get)
                    #expect(try await client.receive(until: "\r\n\r\nhello").hasPrefix("HTTP/1.1 200 OK\r\n"))
                }
            }
        }
    }

    @Test(
        "SRV-14 older versions are refused, and cost the server nothing but a connection",
        arguments: [.tlsv1, .tlsv11] as [TLSVersion]
    )
    func refused(_ version: TLSVersion) async throws {
        try await run { server, authority in
            await #expect(throws: (any Error).self) {
                try await RawClient.connect(port: server.port, tls: authority.client(version: version)) { client in
                    try await client.send(Self.get)
                    _ = try await client.receive(until: "hello")
                }
            }
            var cuts = server.cuts.makeAsyncIterator()
            #expect(await cuts.next() == .handshake)
            try await Self.expectHello(server, authority)
        }
    }

    @Test("SRV-14 a client that does not trust the authority ends its own connection only")
    func untrusted() async throws {
        try await run { server, authority in
            let stranger = try TestAuthority()
            await #expect(throws: (any Error).self) {
                try await RawClient.connect(port: server.port, tls: stranger.client()) { client in
                    try await client.send(Self.get)
                    _ = try await client.receive(until: "hello")
                }
            }
            try await Self.expectHello(server, authority)
        }
    }

    private static func expectHello(_ server: LoopbackServer, _ authority: TestAuthority) async throws {
        try await RawClient.connect(port: server.port, tls: authority.client()) { client in
            try await client.send(get)
            #expect(try await client.receive(until: "hello").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("Bodies, interim responses and the end of a client's output work through TLS as without")
    func exchanges() async throws {
        try await run { server, authority in
            try await RawClient.connect(port: server.port, tls: authority.client()) { client in
                let head = "POST /collect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n"
                try await client.send(head + "Expect: 100-continue\r\n\r\n")
                #expect(try await client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await client.send("abcdef")
                #expect(try await client.receive(until: "abcdef").hasPrefix("HTTP/1.1 200 OK\r\n"))
                // Pipelined, and then no more.
                try await client.send(head + "\r\nuvwxyz" + Self.get)
                client.finish()
                let rest = await client.receiveToEnd()
                #expect(rest.contains("uvwxyz") && rest.hasSuffix("hello"))
            }
        }
    }

    @Test("A refused request gets its problem through TLS, whole, before the connection ends")
    func problem() async throws {
        try await run { server, authority in
            try await RawClient.connect(port: server.port, tls: authority.client()) { client in
                try await client.send("GET http://localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let response = await client.receiveToEnd()
                #expect(response.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            }
            try await RawClient.connect(port: server.port, tls: authority.client()) { client in
                try await client.send("GET https://localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await client.receive(until: "hello").hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
        }
    }

    /// A request in clear text, and the first line and a part of its response.
    struct ClearText: Sendable {
        let request: String
        let status: String
        let part: String
    }

    @Test(
        "SRV-14 a plain GET is redirected to https, everything else gets a problem that says so",
        arguments: [
            ClearText(
                request: "GET /a?b=c HTTP/1.1\r\nHost: larder.test:81\r\n\r\n",
                status: "308 Permanent Redirect",
                part: "location: https://larder.test:81/a?b=c\r\n"
            ),
            ClearText(
                request: "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                status: "308 Permanent Redirect",
                part: "location: https://localhost/\r\n"
            ),
            // To redirect to a host that is not served would send the client to someone else.
            ClearText(
                request: "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
                status: "400 Bad Request",
                part: "https://"
            ),
            ClearText(request: "GET / HTTP/1.0\r\n\r\n", status: "400 Bad Request", part: "https://"),
            ClearText(
                request: "POST /collect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
                status: "400 Bad Request",
                part: "https://"
            ),
            ClearText(request: "get it\r\n\r\n", status: "400 Bad Request", part: ""),
            ClearText(request: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: "400 Bad Request", part: ""),
        ]
    )
    func clearText(_ exchange: ClearText) async throws {
        try await run { server, _ in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(exchange.request)
                let response = await client.receiveToEnd()
                #expect(response.dropFirst("HTTP/1.x ".count).hasPrefix(exchange.status + "\r\n"), "\(response)")
                #expect(response.lowercased().contains(exchange.part))
                #expect(!exchange.status.hasPrefix("308") || response.hasSuffix("\r\n\r\n"))
            }
        }
    }

    @Test("SRV-14 a slow head in clear text, a slow handshake and a silent connection end as without TLS")
    func slow() async throws {
        try await run(ConnectionLimits(idleTimeout: .milliseconds(80))) { server, _ in
            var cuts = server.cuts.makeAsyncIterator()
            try await RawClient.connect(port: server.port) { client in
                #expect(await client.receiveToEnd().isEmpty)
            }
            #expect(await cuts.next() == .idle)
        }
        // The idle time must not end before the first bytes are there, however slow the machine is.
        try await run(ConnectionLimits(headDeadline: .milliseconds(50))) { server, _ in
            var cuts = server.cuts.makeAsyncIterator()
            try await RawClient.connect(port: server.port) { client in
                try await client.send("\u{16}\u{3}\u{1}")
                #expect(await client.receiveToEnd().isEmpty)
            }
            #expect(await cuts.next() == .handshake)
            try await RawClient.connect(port: server.port) { client in
                try await client.send("GET / HT")
                #expect(await client.receiveToEnd().hasPrefix("HTTP/1.1 408 "))
            }
        }
    }

    @Test("SRV-14 what is no handshake, and clients that leave within one, end their connection only")
    func broken() async throws {
        try await run { server, authority in
            var cuts = server.cuts.makeAsyncIterator()
            try await RawClient.connect(port: server.port) { client in
                try await client.send("\u{16}\u{3}\u{1}\u{0}\u{4}abcd")
                _ = await client.receiveToEnd()
            }
            #expect(await cuts.next() == .handshake)
            try await RawClient.connect(port: server.port) { try await $0.send("\u{16}\u{3}") }
            #expect(await cuts.next() == .handshake)
            try await Self.expectHello(server, authority)
        }
    }

    @Test("SRV-14 connections within their handshake count for the limit of their address")
    func counted() async throws {
        let connections = OpenConnections(limit: 1, exempt: .none)
        try await run(connections: connections) { server, authority in
            try await RawClient.connect(port: server.port) { waiting in
                try await waiting.send("\u{16}\u{3}\u{1}")
                await #expect(throws: (any Error).self) { try await Self.expectHello(server, authority) }
                // From another address there is room.
                try await RawClient.connect(port: server.port, from: "127.0.0.2", tls: authority.client()) { client in
                    try await client.send(Self.get)
                    #expect(try await client.receive(until: "hello").hasPrefix("HTTP/1.1 200 OK\r\n"))
                }
            }
        }
    }

    @Test("A server that stops waits for no handshake")
    func stop() async throws {
        try await run { server, authority in
            try await RawClient.connect(port: server.port) { waiting in
                try await waiting.send("\u{16}\u{3}\u{1}")
                // The server has seen the connection before the one that is served here.
                try await Self.expectHello(server, authority)
                await server.stop()
                #expect(await waiting.receiveToEnd().isEmpty)
            }
        }
    }

    @Test("SRV-14 what arrives on a port for TLS waits for the turn of its client, and is whole then")
    func turn() throws {
        let channel = EmbeddedChannel()
        let loop = channel.embeddedEventLoop
        loop.advanceTime(by: .seconds(1))
        let queue = ClientScheduler(clientUnits: 1) { queue, _ in
            loop.assumeIsolated().execute { queue.roundEnded(now: loop.now) }
        }
        _ = queue.begins(.request, of: queue.add(IPAddress("192.0.2.2")), now: loop.now)
        let share = SchedulerShare(IPAddress("192.0.2.1"), of: queue)
        #expect(share.begins(.request, now: loop.now) {})
        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        var outcomes: [String] = []
        let entry = TLSEntryHandler(limits: .standard, share: share) {
            context
        } onOutcome: {
            outcomes.append("\($0)")
        }
        try channel.pipeline.syncOperations.addHandler(entry)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        for part in ["GE", "T /"] { try channel.writeInbound(ByteBuffer(string: part)) }
        #expect(try outcomes.isEmpty && channel.readInbound(as: ByteBuffer.self) == nil)
        loop.run()
        #expect(outcomes == ["clearText"])
        #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "GET /"))
        try channel.writeInbound(ByteBuffer(string: " HTTP"))
        #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: " HTTP"))
        _ = try channel.finish()
        #expect(outcomes.count == 1)
    }
}
