import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import Concurrency
@testable import Freshness
@testable import Upstream

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

    /// What the client is asked for waits nowhere but in sockets: the event loop that writes to the upstream has
    /// written each part before the next one is taken.
    @Test(
        "SRV-07 No part of a large body waits for the event loop that sends it while further ones are taken",
        arguments: [true, false]
    )
    func transport(isLengthKnown: Bool) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let transport = HTTPClientTransport(eventLoopGroup: group, connectTimeout: .seconds(10))
        let (parts, text) = (500, "xxxx")
        let end = "\r\n\r\n"  // What the server takes for the end of something.
        let counts = NIOLockedValueBox((taken: 0, passed: 0, mostAhead: 0))
        let body = ByteStream {
            {
                let taken = counts.withLockedValue { counts in
                    counts.mostAhead = max(counts.mostAhead, counts.taken - counts.passed)
                    counts.taken += 1
                    return counts.taken
                }
                guard taken <= parts else { return nil }
                // In line before the part itself: what is behind this has not been sent either.
                loop.execute { counts.withLockedValue { $0.passed += 1 } }
                return ByteBuffer(string: taken == parts ? end : text)
            }
        }
        var failure: (any Error)?
        do {
            try await RawServer.with(.silence, .response("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
                server in
                let length = isLengthKnown ? parts * text.utf8.count : nil
                let request = StreamedRequest(
                    method: .put,
                    url: server.url + "/",
                    headerFields: [:],
                    body: body,
                    bodyLength: length
                )
                _ = try await transport.stream(
                    request,
                    within: TransportLimits(total: .seconds(300), maximumBytes: 1, publicAddressesOnly: false)
                )
            }
        } catch {
            failure = error
        }
        // Whatever happened: a client that is not shut down ends the process of all tests.
        try await transport.shutdown()
        try await group.shutdownGracefully()
        if let failure { throw failure }
        let (taken, _, mostAhead) = counts.withLockedValue { $0 }
        #expect(taken == parts + 1)
        #expect(mostAhead == 0, "number of parts that waited for the event loop at once")
    }
}
