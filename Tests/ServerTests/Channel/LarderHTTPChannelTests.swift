import Logging
import NIOCore
import NIOEmbedded
import TestKit
import Testing

@testable import Server

@Suite("Hummingbird behind the connection layer, over sockets", .timeLimit(.minutes(10)))
struct LarderHTTPChannelTests {
    private static let get = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("Pipelined requests get their responses in order on one connection")
    func pipelining() async throws {
        let responses = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                let post = "POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
                try await client.send(
                    Self.get + post + "one" + Self.get + post + "two"
                        + "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                )
                return await client.receiveToEnd()
            }
        }
        #expect(responses.split(separator: "HTTP/1.1 200 OK").count == 5)
        let order = ["hello", "one", "hello", "two", "hello"]
        var rest = responses[...]
        for body in order {
            let range = try #require(rest.firstRange(of: "\r\n\r\n" + body))
            rest = rest[range.upperBound...]
        }
    }

    @Test("A body is streamed in and out in chunks, and the connection stays open after a collected one")
    func bodies() async throws {
        try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(
                    "POST /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
                )
                #expect(try await client.receive(until: "\r\n\r\nabcdef").hasPrefix("HTTP/1.1 200 OK"))
                try await client.send(
                    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
                )
                #expect(try await client.receive(until: "3\r\nabc\r\n").hasPrefix("HTTP/1.1 200 OK"))
                try await client.send("3\r\ndef\r\n0\r\n\r\n")
                #expect(try await client.receive(until: "0\r\n\r\n") == "3\r\ndef\r\n0\r\n\r\n")
            }
        }
    }

    @Test("100 Continue comes before the body is sent")
    func expectContinue() async throws {
        try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(
                    "POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
                )
                #expect(try await client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await client.send("abc")
                #expect(try await client.receive(until: "\r\n\r\nabc").hasPrefix("HTTP/1.1 200 OK"))
            }
        }
    }

    @Test("SRV-11 A response that does not wait for an endless body can be read; the body does not hold the connection")
    func endlessBody() async throws {
        try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(
                    "POST /refuse HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
                )
                let response = try await client.receive(until: "\r\n\r\n")
                #expect(response.hasPrefix("HTTP/1.1 401"))
                #expect(response.lowercased().contains("connection: close"))
                await client.sendEndlessly("1000\r\n" + String(repeating: "x", count: 4096) + "\r\n")
            }
        }
    }

    @Test(
        "SRV-11 A task that still reads a body when the response has ended does not end the process",
        arguments: [1, 20]
    )
    func respondedEarly(times: Int) async throws {
        try await LoopbackServer.run { server in
            for _ in 0..<times {
                try await RawClient.connect(port: server.port) { client in
                    try await client.send(
                        "POST /early HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
                    )
                    #expect(try await client.receive(until: "\r\n\r\nearly").hasPrefix("HTTP/1.1 200 OK"))
                    await client.sendEndlessly("1000\r\n" + String(repeating: "x", count: 4096) + "\r\n")
                }
            }
            try await RawClient.connect(port: server.port) { client in
                try await client.send(Self.get)
                #expect(try await client.receive(until: "\r\n\r\nhello").hasPrefix("HTTP/1.1 200 OK"))
            }
        }
    }

    @Test(
        "SRV-11 An endless head, target or field ends in 431 and a closed connection",
        arguments: ["GET /", "GET / HTTP/1.1\r\nHost: a\r\nA: "]
    )
    func endlessHead(start: String) async throws {
        let (response, refusal) = try await LoopbackServer.run { server in
            let response = try await RawClient.connect(port: server.port) { client in
                try await client.send(start)
                // As much as is refused and a little more, so that the response is not lost in a reset.
                try await client.send(String(repeating: "a", count: 40 * 1024))
                return await client.receiveToEnd()
            }
            var refusals = server.refusals.makeAsyncIterator()
            return (response, await refusals.next())
        }
        #expect(response.hasPrefix("HTTP/1.1 431"))
        #expect(response.contains("\"headers-too-large\""))
        #expect(refusal?.status == 431)
    }

    @Test(
        "SRV-11 Smuggled requests are refused as a problem and the connection closed: the second one gets no response",
        arguments: [
            "POST /collect HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "POST /collect HTTP/1.1\r\n\r\n",
            "POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
            "POST /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "POST /collect HTTP/1.1\r\nHost: a\r\n"
                + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
            "POST /collect HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ]
    )
    func smuggling(request: String) async throws {
        let response = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(request + Self.get)
                return await client.receiveToEnd()
            }
        }
        #expect(response.split(separator: "\r\n").first?.hasSuffix(" 400 Bad Request") == true)
        #expect(response.contains("application/problem+json"))
        #expect(!response.contains("hello"))
    }

    @Test(
        "A client that wants the connection closed finds it closed after the response",
        arguments: [
            "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
            "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: te, close\r\n\r\n",
            "GET /hello HTTP/1.0\r\n\r\n",
        ]
    )
    func connectionClose(request: String) async throws {
        let response = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(request)
                return await client.receiveToEnd()
            }
        }
        #expect(response.contains(" 200 OK\r\n"))
        #expect(response.lowercased().contains("connection: close"))
        #expect(response.hasSuffix("hello"))
    }

    @Test("An HTTP/1.0 client gets a streamed response without chunks, ended by the connection")
    func http10Stream() async throws {
        let response = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send("POST /echo HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc")
                return await client.receiveToEnd()
            }
        }
        #expect(response.hasPrefix("HTTP/1.0 200 OK"))
        #expect(response.hasSuffix("\r\n\r\nabc"))
    }

    @Test("A client that closes its side after the request gets its response")
    func halfClosedClient() async throws {
        let response = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { client in
                try await client.send(Self.get)
                client.finish()
                return await client.receiveToEnd()
            }
        }
        #expect(response.hasSuffix("hello"))
    }

    @Test("SRV-12 Stopping responds to the request in flight, closes the idle connection at once, and ends")
    func gracefulStop() async throws {
        let response = try await LoopbackServer.run { server in
            try await RawClient.connect(port: server.port) { idle in
                try await idle.send(Self.get)
                _ = try await idle.receive(until: "hello")
                let response = try await RawClient.connect(port: server.port) { client in
                    try await client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
                    await server.gate.arrivals()
                    await server.stop()
                    // The idle connection ends while the other request is still under way.
                    #expect(await idle.receiveToEnd() == "")
                    server.gate.open()
                    return await client.receiveToEnd()
                }
                return response
            }
        }
        #expect(response.hasPrefix("HTTP/1.1 200 OK"))
        #expect(response.lowercased().contains("connection: close"))
        #expect(response.hasSuffix("waited"))
    }

    @Test("SRV-11 A client that never reads is closed after the write deadline; another is served meanwhile")
    func neverReads() async throws {
        let limits = ConnectionLimits(writeDeadline: .milliseconds(200))
        let (response, cut) = try await LoopbackServer.run(limits) { server in
            try await RawClient.connect(port: server.port, reads: false) { stalled in
                try await stalled.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
                let response = try await RawClient.connect(port: server.port) { client in
                    try await client.send(Self.get)
                    return try await client.receive(until: "hello")
                }
                var cuts = server.cuts.makeAsyncIterator()
                return (response, await cuts.next())
            }
        }
        #expect(response.hasPrefix("HTTP/1.1 200 OK"))
        #expect(cut == .writeStalled)
    }

    @Test("SRV-12 One that is accepted while the server stops does not end the process")
    func dropped() throws {
        let channel = EmbeddedChannel()
        let logger = Logger.quiet
        let content = RefusalContent(type: "text/plain", language: "en", body: [])
        let server = LarderHTTPChannel(responder: { _, _, _ in }, problem: { _, _ in content })
        // The result is released at once, as by a server that has stopped listening.
        _ = try server.setup(channel: channel, logger: logger).wait()
        // Until the channel becomes active, NIO itself keeps the objects that it has made for it.
        channel.pipeline.fireChannelActive()
        #expect(try channel.finish(acceptAlreadyClosed: true).isClean, "it is closed without a word")
    }
}
