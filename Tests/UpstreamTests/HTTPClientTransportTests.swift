import Foundation
import HTTPTypes
import Logging
import NIOPosix
import TestKit
import Testing

@testable import Concurrency
@testable import Freshness
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
