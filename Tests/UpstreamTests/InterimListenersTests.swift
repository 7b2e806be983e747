import HTTPTypes
import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

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
