import Foundation
import HTTP
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// The transport over real sockets of the loopback interface.
@Suite(.timeLimit(.minutes(10)))
struct HTTPClientTransportTests {
    /// One exchange with a client of its own.
    private func exchange(
        _ request: OutgoingRequest,
        total: Duration = .seconds(20),
        maximumBytes: Int = 1000,
        publicAddressesOnly: Bool = false
    ) async throws -> Result<IncomingResponse, UpstreamError> {
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
        let limits = TransportLimits(total: total, maximumBytes: maximumBytes, publicAddressesOnly: publicAddressesOnly)
        let result: Result<IncomingResponse, UpstreamError>
        do throws(UpstreamError) {
            result = .success(try await transport.exchange(request, within: limits))
        } catch {
            result = .failure(error)
        }
        try await transport.shutdown()
        return result
    }

    private func exchange(
        with server: RawServer,
        total: Duration = .seconds(20),
        maximumBytes: Int = 1000
    ) async throws -> Result<IncomingResponse, UpstreamError> {
        try await exchange(OutgoingRequest(url: server.url + "/"), total: total, maximumBytes: maximumBytes)
    }

    @Test("An exchange: method, path, query, fields and body go, status, fields and body come")
    func whole() async throws {
        try await RawServer.with(
            .response("HTTP/1.1 418 Teapot\r\nContent-Length: 5\r\nX-A: 1\r\nX-A: 2\r\n\r\nhello")
        ) { server in
            let request = OutgoingRequest(
                method: .post,
                url: "\(server.url)/a%20b?c=%C3%A4",
                headerFields: [.accept: "x/y"],
                body: Array("{}".utf8)
            )
            let response = try await exchange(request).get()
            #expect(response.status.code == 418)
            #expect(response.headerFields[values: try #require(.init("X-A"))] == ["1", "2"])
            #expect(response.body == Array("hello".utf8))
            let sent = try #require(server.log.value.requests.first)
            #expect(sent.hasPrefix("POST /a%20b?c=%C3%A4 HTTP/1.1\r\n"))
            #expect(sent.contains("\r\nAccept: x/y\r\n"))
            #expect(sent.lowercased().contains("\r\nhost: 127.0.0.1:\(server.port)\r\n"))
            #expect(sent.lowercased().contains("\r\ncontent-length: 2\r\n"))
        }
    }

    @Test("A redirect is a response, not followed here")
    func redirect() async throws {
        try await RawServer.with(.response("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")) {
            server in
            let result = try await exchange(with: server).get().status
            #expect(result == .found)
            #expect(server.log.value.requests.count == 1)
        }
    }

    @Test("Nothing listens: refused")
    func refused() async throws {
        let server = try await RawServer { _ in nil }
        let url = server.url + "/"
        try await server.close()
        let result = try await exchange(OutgoingRequest(url: url))
        #expect(result == .failure(.unreachable(.refused)))
    }

    @Test(
        "The connection breaks before a response: reset",
        arguments: [RawServer.Response.reset, .respondThenClose("")]
    )
    func reset(behaviour: RawServer.Response) async throws {
        try await RawServer.with(behaviour) { server in
            let result = try await exchange(with: server)
            #expect(result == .failure(.unreachable(.reset)))
        }
    }

    @Test(
        "The connection breaks within a response: a bad response that was truncated",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        ]
    )
    func truncated(text: String) async throws {
        try await RawServer.with(.respondThenClose(text)) { server in
            let result = try await exchange(with: server)
            #expect(result == .failure(.badResponse(status: .ok, reason: UpstreamError.cutShort)))
        }
    }

    @Test("A response that ends with the connection is complete")
    func endOfConnection() async throws {
        try await RawServer.with(.respondThenClose("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello")) {
            server in
            let result = try await exchange(with: server).get().body
            #expect(result == Array("hello".utf8))
        }
    }

    @Test(
        "A response above the limit is refused, announced or not",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello hello\r\n",
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello hello",
        ]
    )
    func tooLarge(text: String) async throws {
        try await RawServer.with(.response(text)) { server in
            let result = try await exchange(with: server, maximumBytes: 10)
            #expect(result == .failure(.badResponse(status: .ok, reason: "more than 10 bytes")))
            await server.log.until { $0.closed == 1 }
        }
    }

    @Test("A response of exactly the limit is accepted")
    func atTheLimit() async throws {
        try await RawServer.with(.response("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")) { server in
            let result = try await exchange(with: server, maximumBytes: 10).get().body.count
            #expect(result == 10)
        }
    }

    @Test(
        "What is not HTTP is a bad response",
        arguments: ["SSH-2.0-OpenSSH\r\n", "\u{16}\u{3}\u{1}\r\n\r\n", "HTTP/1.1 abc\r\n\r\n"]
    )
    func garbage(text: String) async throws {
        try await RawServer.with(.respondThenClose(text)) { server in
            let result = try await exchange(with: server)
            #expect(result == .failure(.badResponse(status: nil, reason: "not HTTP")))
        }
    }

    @Test("No TLS although TLS is expected")
    func noTLS() async throws {
        try await RawServer.with(.response("HTTP/1.1 400 Bad Request\r\n\r\n")) { server in
            let result = try await exchange(OutgoingRequest(url: "https://127.0.0.1:\(server.port)/"))
            #expect(result == .failure(.unreachable(.tls)))
        }
    }

    @Test(
        "No complete response within the total time: none at all, or an endless one",
        arguments: [RawServer.Response.silence, .response("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel")]
    )
    func totalTimeout(behaviour: RawServer.Response) async throws {
        try await RawServer.with(behaviour) { server in
            let result = try await exchange(with: server, total: .milliseconds(200))
            #expect(result == .failure(.unreachable(.totalTimeout)))
            await server.log.until { $0.closed == 1 }
        }
    }

    @Test("A cancelled exchange ends at once and closes its connection")
    func cancelled() async throws {
        try await RawServer.with(.silence) { server in
            let waiting = Task { try await exchange(with: server, total: .seconds(3600)) }
            await server.log.until { $0.requests.count == 1 }
            waiting.cancel()
            _ = try await waiting.value
            await server.log.until { $0.closed == 1 }
        }
    }

    @Test(
        "SRV-11 With public addresses only, nothing is sent to this machine, by address or by name",
        arguments: ["127.0.0.1", "localhost"]
    )
    func publicAddressesOnly(host: String) async throws {
        try await RawServer.with(.response("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) { server in
            let request = OutgoingRequest(url: "http://\(host):\(server.port)/")
            let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
            let limits = TransportLimits(total: .seconds(20), maximumBytes: 10, publicAddressesOnly: true)
            await #expect(throws: UpstreamError.forbiddenTarget("an address that is not public")) {
                try await transport.exchange(request, within: limits)
            }
            // The connection is not left open either.
            await server.log.until { $0.accepted == 1 && $0.closed == 1 }
            #expect(server.log.value.requests.isEmpty)
            try await transport.shutdown()
        }
    }

    @Test("Connections are kept; one that the server closed under a request costs nothing but another try")
    func keepAlive() async throws {
        let ok = RawServer.Response.response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        try await RawServer.with(ok, ok, .respondThenClose(""), ok) { server in
            let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
            let upstream = Upstream(
                configuration: .init(
                    name: "real",
                    title: "Real",
                    baseURL: try #require(URL(string: "http://127.0.0.1:\(server.port)")),
                    totalTimeout: .seconds(60),
                    patience: .seconds(60)
                ),
                transport: transport,
                database: try .temporary(),
                clock: .system,
                logger: .quiet
            )
            let resource = Resource(url: upstream.configuration.url(of: "/list"), freshness: .zero)
            for _ in 1...3 {
                let result = try await upstream.read(resource, .revalidate)
                #expect(result.provenance.isValidatedNow, "\(result.provenance)")
            }
            #expect(server.log.value.requests.count == 4)
            #expect(server.log.value.accepted == 2)
            #expect(upstream.reachability.isReachable)
            upstream.stop()
            try await transport.shutdown()
        }
    }
}

@Suite("Bodies of requests are taken no faster than they leave", .timeLimit(.minutes(10)))
struct HTTPClientTransportUploadsTests {
    @Test("The source is asked for a part only when the one before was dealt with")
    func order() async throws {
        let log = NIOLockedValueBox<[String]>([])
        let source = ByteStream {
            var rest = 3
            return {
                log.withLockedValue { $0.append("asked") }
                rest -= 1
                return rest >= 0 ? ByteBuffer(string: "part") : nil
            }
        }
        for try await _ in source.paced(by: { log.withLockedValue { $0.append("caught up") } }) {
            log.withLockedValue { $0.append("taken") }
        }
        #expect(
            log.withLockedValue { $0 }.joined(separator: ", ")
                == "asked, taken, caught up, asked, taken, caught up, asked, taken, caught up, asked"
        )
    }

    private typealias Counts = NIOLockedValueBox<(taken: Int, passed: Int, mostAhead: Int)>

    /// Returns a body of parts with the same length, of which the last is `end`. It counts the parts that were taken,
    /// those of them that the event loop has passed, and the most that were ahead of it.
    private static func body(_ parts: Int, end: String, _ loop: any EventLoop, _ counts: Counts) -> ByteStream {
        ByteStream {
            {
                let taken = counts.withLockedValue { counts in
                    counts.mostAhead = max(counts.mostAhead, counts.taken - counts.passed)
                    counts.taken += 1
                    return counts.taken
                }
                guard taken <= parts else { return nil }
                // Queued before the part itself: while this has not run, the part has not been sent either.
                loop.execute { counts.withLockedValue { $0.passed += 1 } }
                return ByteBuffer(string: taken == parts ? end : String(repeating: "x", count: end.utf8.count))
            }
        }
    }

    /// Parts of a body wait only in sockets: the event loop has written each part to the upstream before the client
    /// asks for the next one.
    @Test(
        "SRV-07 No part of a large body waits for the event loop that sends it while further ones are taken",
        arguments: [true, false]
    )
    func transport(isLengthKnown: Bool) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = HTTPClientTransport(eventLoopGroup: group, connectTimeout: .seconds(10))
        let (parts, counts) = (500, Counts((taken: 0, passed: 0, mostAhead: 0)))
        let end = "\r\n\r\n"  // What the server takes for the end of something.
        var failure: (any Error)?
        do {
            try await RawServer.with(.silence, .response("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
                server in
                let request = StreamedRequest(
                    method: .put,
                    url: server.url + "/",
                    headerFields: [:],
                    body: Self.body(parts, end: end, group.next(), counts),
                    bodyLength: isLengthKnown ? parts * end.utf8.count : nil
                )
                _ = try await transport.stream(
                    request,
                    within: TransportLimits(total: .seconds(300), maximumBytes: 1, publicAddressesOnly: false)
                )
            }
        } catch {
            failure = error
        }
        // In any case: a client that is not shut down ends the process of all tests.
        try await transport.shutdown()
        try await group.shutdownGracefully()
        if let failure { throw failure }
        let (taken, _, mostAhead) = counts.withLockedValue { $0 }
        #expect(taken == parts + 1)
        #expect(mostAhead == 0, "number of parts that waited for the event loop at once")
    }
}

@Suite(.timeLimit(.minutes(10))) struct InterimListenersTests {
    private static let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test("SRV-07 A request hears its own interim responses but 100 Continue, before its response, and no later ones")
    func heard() async throws {
        let first = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + Self.hints + Self.ok
        try await RawServer.with(.response(first), .response(Self.hints + Self.ok)) { server in
            let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
            let limits = TransportLimits(total: .seconds(20), maximumBytes: 1000, publicAddressesOnly: false)
            let heard = Watched([HTTPResponse]())
            var request = StreamedRequest(method: .get, url: server.url + "/a?b", headerFields: [:])
            request.interim = { response in heard.update { $0.append(response) } }
            let response = try await transport.stream(request, within: limits)
            // The response is behind them on the same connection.
            #expect(heard.value.map(\.status.code) == [102, 103])
            #expect(heard.value.last?.headerFields[.link] == "</a.css>; rel=preload")
            #expect(String(buffer: try await response.body.collect(upTo: 9)) == "ok")
            request.interim = nil
            let next = try await transport.stream(request, within: limits)
            #expect(String(buffer: try await next.body.collect(upTo: 9)) == "ok")
            #expect(heard.value.count == 2)
            let requests = server.log.value.requests
            #expect(requests.allSatisfy { $0.hasPrefix("GET /a?b HTTP/1.1\r\n") && !$0.contains("Larder") })
            try await transport.shutdown()
        }
    }
}

extension HTTPField.Name {
    fileprivate static let link = HTTPField.Name("Link") ?? .location
}
