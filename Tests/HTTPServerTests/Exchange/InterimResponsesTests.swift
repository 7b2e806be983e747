import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPServer

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
