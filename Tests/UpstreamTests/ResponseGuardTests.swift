import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// TRUST-01 over real sockets: responses that are no HTTP, or none of the kind that a client without an upgrade gets.
@Suite(.timeLimit(.minutes(10)))
struct ResponseGuardTests {
    /// Asks for one URL with a transport of its own, by a whole exchange or in parts.
    private func ask(_ url: String, inParts: Bool) async throws -> Result<IncomingResponse, UpstreamError> {
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
        let limits = TransportLimits(total: .seconds(20), maximumBytes: 1000, publicAddressesOnly: false)
        let result: Result<IncomingResponse, UpstreamError>
        do {
            if inParts {
                let response = try await transport.stream(
                    StreamedRequest(method: .get, url: url, headerFields: [:]),
                    within: limits
                )
                let body = try await response.body.collect(upTo: 1000)
                result = .success(
                    IncomingResponse(
                        status: response.status,
                        headerFields: response.headerFields,
                        body: Array(body.readableBytesView)
                    )
                )
            } else {
                result = .success(try await transport.exchange(OutgoingRequest(url: url), within: limits))
            }
        } catch {
            result = .failure(try #require(error as? UpstreamError, "\(error)"))
        }
        try await transport.shutdown()
        return result
    }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test(
        "TRUST-01 A status below 100, with a body, without or after others, is a bad response and ends its connection",
        arguments: [
            ("HTTP/1.1 099 Low\r\nContent-Length: 5\r\n\r\nhello", "status 99"),
            ("HTTP/1.1 000 Zero\r\n\r\n", "status 0"),
            ("HTTP/1.1 099 Low\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "status 99"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 001 X\r\nContent-Length: 0\r\n\r\n", "status 1"),
        ],
        [false, true]
    )
    func low(response: (text: String, reason: String), inParts: Bool) async throws {
        try await RawServer.with(.response(response.text)) { server in
            let result = try await ask(server.url + "/", inParts: inParts)
            #expect(result == .failure(.badResponse(status: nil, reason: response.reason)))
            await server.log.until { $0.closed == 1 }
        }
    }

    @Test(
        "TRUST-01 TRUST-07 101 to a request without Upgrade is a bad response and ends its connection",
        arguments: [false, true]
    )
    func switchingProtocols(inParts: Bool) async throws {
        let text =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\u{1}\u{2}\u{3}"
        for text in [text, "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n" + text] {
            try await RawServer.with(.response(text)) { server in
                let expected = UpstreamError.badResponse(status: nil, reason: "a protocol that was not asked for")
                let result = try await ask(server.url + "/", inParts: inParts)
                #expect(result == .failure(expected))
                await server.log.until { $0.closed == 1 }
            }
        }
    }

    @Test(
        "TRUST-01 Interim responses are skipped, many of them too; an endless sequence is a bad response",
        arguments: [false, true]
    )
    func interim(inParts: Bool) async throws {
        let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
        let many = String(repeating: hint, count: ResponseSequence.mostInterim)
        for text in ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + Self.ok, many + Self.ok] {
            try await RawServer.with(.response(text)) { server in
                let response = try await ask(server.url + "/", inParts: inParts).get()
                #expect(
                    response.status == .ok && response.body == Array("ok".utf8)
                        && !response.headerFields.contains { $0.name.canonicalName == "link" }
                )
            }
        }
        try await RawServer.with(.response(many + hint)) { server in
            let expected = UpstreamError.badResponse(status: nil, reason: "more than 64 interim responses")
            let result = try await ask(server.url + "/", inParts: inParts)
            #expect(result == .failure(expected))
        }
    }

    @Test(
        "TRUST-01 A status from 600 to 999 is returned unchanged: its meaning is decided later",
        arguments: [600, 999],
        [false, true]
    )
    func high(status: Int, inParts: Bool) async throws {
        try await RawServer.with(.response("HTTP/1.1 \(status) Odd\r\nContent-Length: 2\r\n\r\nok")) { server in
            let response = try await ask(server.url + "/", inParts: inParts).get()
            #expect(response.status.code == status && response.body == Array("ok".utf8))
        }
    }

    @Test(
        "TRUST-01 No URL with a port outside of 1 to 65535, and no host that is none, reaches the client",
        arguments: [
            "http://127.0.0.1:99999/", "http://localhost:65536/", "https://127.0.0.1:99999/", "http://[::1]:70000/",
            "http://127.0.0.1:0/",
            "http://127.0.0.1:99999999999999999999/", "http://%5B%5D/", "http://a%00b/",
        ],
        [false, true]
    )
    func impossibleTargets(url: String, inParts: Bool) async throws {
        guard case .failure(.forbiddenTarget) = try await ask(url, inParts: inParts) else {
            Issue.record("\(url) is not forbidden")
            return
        }
    }

    @Test("TRUST-01 Bytes behind a response end its connection; the next request has another")
    func bytesBehind() async throws {
        let behind = Self.ok + "HTTP/1.1 099 Low\r\nContent-Length: 5\r\n\r\nhello"
        try await RawServer.with(.response(behind), .response(Self.ok), .response(Self.ok), .response(Self.ok)) {
            server in
            let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
            let limits = TransportLimits(total: .seconds(20), maximumBytes: 1000, publicAddressesOnly: false)
            do {
                let first = try await transport.exchange(OutgoingRequest(url: server.url + "/"), within: limits)
                await server.log.until { $0.closed == 1 }
                let second = try await transport.exchange(OutgoingRequest(url: server.url + "/"), within: limits)
                #expect(first.body == Array("ok".utf8) && second.body == first.body)
            } catch {
                Issue.record(error)
            }
            // The client ends the process if it is released before it was shut down.
            try await transport.shutdown()
        }
    }

    @Test(
        "TRUST-07 A request target arrives byte for byte, whatever its percent-encoded bytes are",
        arguments: [
            "/base/a%ffb", "/base/a/b/%80", "/%e2%28%a1/x?y=1", "/..%c0%afx", "/a%2Fb?q=%ff", "/?a=[1]", "//x", "/%41",
            "/a;b=c,d/%7e?q=%C3%A9&", "/a%zz",
        ],
        [false, true]
    )
    func targets(target: String, inParts: Bool) async throws {
        try await RawServer.with(.response(Self.ok)) { server in
            _ = try await ask(server.url + target, inParts: inParts).get()
            let request = try #require(server.log.value.requests.first)
            #expect(request.hasPrefix("GET \(target) HTTP/1.1\r\n"), "\(request)")
            #expect(!request.lowercased().contains("larder-exchange"))
        }
    }

    @Test(
        "TRUST-01 Header fields above their limits, and lengths that are none, are a bad response",
        arguments: [
            (
                "X-Long: " + String(repeating: "a", count: 17 << 10),
                "header fields of more than 64 KiB, or one of more than 16 KiB"
            ),
            (
                (0..<9).map { "X-\($0): " + String(repeating: "a", count: 8 << 10) }.joined(separator: "\r\n"),
                "header fields of more than 64 KiB, or one of more than 16 KiB"
            ),
            ("Content-Length: 9223372036854775808", "a Content-Length that is no length"),
            ("Transfer-Encoding: gzip, chunked", "a transfer coding that was not asked for"),
            ("Transfer-Encoding: gzip", "a transfer coding that was not asked for"),
        ],
        [false, true]
    )
    func heads(head: (fields: String, reason: String), inParts: Bool) async throws {
        try await RawServer.with(.response("HTTP/1.1 200 OK\r\n\(head.fields)\r\n\r\n")) { server in
            let result = try await ask(server.url + "/", inParts: inParts)
            #expect(result == .failure(.badResponse(status: nil, reason: head.reason)))
        }
    }

    @Test("TRUST-13 A body that stalls ends after the limit, however long the total is; so does silence after a body")
    func stalls() async throws {
        let begun = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
        let limits = TransportLimits(
            total: .seconds(3600),
            maximumBytes: 1000,
            publicAddressesOnly: false,
            stall: .milliseconds(200)
        )
        try await RawServer.with(.response(begun), .silence) { server in
            do {
                let request = StreamedRequest(method: .get, url: server.url + "/", headerFields: [:])
                let response = try await transport.stream(request, within: limits)
                await #expect(throws: UpstreamError.unreachable(.totalTimeout)) {
                    _ = try await response.body.collect(upTo: 1000)
                }
                let upload = StreamedRequest(
                    method: .put,
                    url: server.url + "/",
                    headerFields: [:],
                    body: ByteStream(ByteBuffer(string: "bytes")),
                    bodyLength: 5
                )
                await #expect(throws: UpstreamError.unreachable(.totalTimeout)) {
                    try await transport.stream(upload, within: limits)
                }
            } catch {
                Issue.record(error)
            }
            try await transport.shutdown()
        }
    }

    @Test("Parts of a body that arrive together are passed on as one")
    func joined() async throws {
        let chunks = String(repeating: "1\r\nx\r\n", count: 1000) + "0\r\n\r\n"
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
        let limits = TransportLimits(total: .seconds(20), maximumBytes: 1000, publicAddressesOnly: false)
        try await RawServer.with(.response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)) {
            server in
            do {
                let request = StreamedRequest(method: .get, url: server.url + "/", headerFields: [:])
                let response = try await transport.stream(request, within: limits)
                var (parts, bytes) = (0, 0)
                for try await part in response.body {
                    parts += 1
                    bytes += part.readableBytes
                }
                #expect(bytes == 1000 && parts < 100, "\(parts) parts")
            } catch {
                Issue.record(error)
            }
            try await transport.shutdown()
        }
    }

    @Test(
        "An idempotent request whose kept-alive connection was closed is sent again on a new one (RFC 9112 §9.3.1)",
        arguments: [(HTTPRequest.Method.get, true), (.delete, true), (.post, false)],
        [false, true]
    )
    func staleConnection(request: (method: HTTPRequest.Method, isResent: Bool), inParts: Bool) async throws {
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(10))
        let limits = TransportLimits(total: .seconds(20), maximumBytes: 1000, publicAddressesOnly: false)
        func send(_ url: String, _ method: HTTPRequest.Method) async throws(UpstreamError) -> Int {
            guard inParts else {
                return try await transport.exchange(OutgoingRequest(method: method, url: url), within: limits).status
                    .code
            }
            let request = StreamedRequest(method: method, url: url, headerFields: [:])
            let response = try await transport.stream(request, within: limits)
            _ = try? await response.body.collect(upTo: 1000)
            return response.status.code
        }
        try await RawServer.with(.response(Self.ok), .reset, .response(Self.ok), .reset) { server in
            do {
                #expect(try await send(server.url + "/", .get) == 200)
                if request.isResent {
                    #expect(try await send(server.url + "/", request.method) == 200)
                    #expect(server.log.value.requests.count == 3 && server.log.value.accepted == 2)
                    // The first request of a connection has met no stale one.
                    await #expect(throws: UpstreamError.unreachable(.reset)) { try await send(server.url + "/", .get) }
                    #expect(server.log.value.requests.count == 4)
                } else {
                    await #expect(throws: UpstreamError.unreachable(.reset)) {
                        try await send(server.url + "/", request.method)
                    }
                    #expect(server.log.value.requests.count == 2)
                }
            } catch {
                Issue.record(error)
            }
            try await transport.shutdown()
        }
    }

    @Test(
        "TRUST-01 A redirect to a port that is none is refused, and nothing is sent there",
        arguments: [
            "http://127.0.0.1:99999/", "//127.0.0.1:65536/", "http://127.0.0.1:0/",
            "http://127.0.0.1:99999999999999999999/",
        ]
    )
    func redirects(location: String) async throws {
        let scene = try Scenario { $0.trustedHosts = ["127.0.0.1"] }
        scene.transport.always(response(.found, fields: [.location: location]))
        let error = await #expect(throws: UpstreamError.self) { try await scene.upstream.read(scene.list()) }
        #expect(error == .forbiddenTarget("a port outside of 1 to 65535"))
        await #expect(throws: UpstreamError.forbiddenTarget("a port outside of 1 to 65535")) {
            try await scene.upstream.stream(StreamedRequest(method: .get, url: "https://api.test/a", headerFields: [:]))
        }
        #expect(scene.transport.count == 2)
    }

    @Test("TRUST-01 An upstream that is configured with such a port is asked nothing")
    func configured() async throws {
        let base = try #require(URL(string: "http://127.0.0.1:99999"))
        let scene = try Scenario { $0.baseURL = base }
        await #expect(throws: UpstreamError.known(.forbiddenTarget("a port outside of 1 to 65535"))) {
            try await scene.upstream.read(Resource(url: "http://127.0.0.1:99999/list", freshness: nil))
        }
        await #expect(throws: UpstreamError.known(.forbiddenTarget("a base URL to which no connection can be made"))) {
            try await scene.upstream.read(Resource(url: "http://127.0.0.1/list", freshness: nil))
        }
        #expect(scene.transport.count == 0)
    }

    @Test("TRUST-01 A status from 600 to 999 is a failure for screens (RFC 9110 §15)", arguments: [600, 999])
    func processedAsServerError(code: Int) async throws {
        let status = HTTPResponse.Status(code: code)
        let scene = try Scenario()
        scene.transport.always(response(status, "odd"))
        await #expect(throws: UpstreamError.failing(status: status, retryAfter: nil)) {
            try await scene.upstream.read(scene.list())
        }
        #expect(scene.upstream.reachability.lastError?.reason == "status \(code)")
    }
}
