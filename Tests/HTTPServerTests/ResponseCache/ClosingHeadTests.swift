import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

@Suite("Cached responses to clients that close") struct ClosingHeadTests {
    private static let head = CachingConnection.head("/kept", "Authorization: Bearer one\r\n")
    private static let last = CachingConnection.head("/kept", "Authorization: Bearer one\r\nConnection: close\r\n")

    private static func rest(_ fields: String) -> String? {
        ClosingHead(ByteBuffer(string: CachingConnection.head("/", fields))).map { String(buffer: $0.rest) }
    }

    @Test(
        "Lines that close are left out, wherever they are and however they are written",
        arguments: ["Connection: close\r\n", "connection:close\r\n", "CONNECTION: \tClose \t\r\n"]
    )
    func leftOut(line: String) {
        #expect(Self.rest("\(line)A: b\r\n") == CachingConnection.head("/", "A: b\r\n"))
        #expect(Self.rest("A: b\r\n\(line)\(line)") == CachingConnection.head("/", "A: b\r\n"))
    }

    @Test(
        "SRV-11 Other lines, and lines that continue others, are left where they are",
        arguments: [
            "", "Connection: keep-alive\r\n", "Connection: close, te\r\n", "Connection:\r\n", "Connections: close\r\n",
            "Connection : close\r\n", "A: close\r\n", "Connection: closeXY\n", "Connection: close\r\n x\r\n",
        ]
    )
    func kept(fields: String) {
        #expect(Self.rest(fields) == nil)
    }

    @Test("SRV-06 A client that closes gets the cached response, with its end and nothing behind it")
    func closes() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        kept.connection.receive(Self.last + Self.head)
        let sent = try kept.connection.sent()
        #expect(sent.hasPrefix("HTTP/1.1 200 OK\r\n") && sent.hasSuffix("\r\nConnection: close\r\n\r\nbody"))
        #expect(sent.components(separatedBy: "HTTP/1.1 ").count == 2)
        #expect(kept.connection.socket.isOutputClosed && kept.connection.channel.isActive, "the client can still read")
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().isEmpty)
        kept.connection.advance(seconds: 60)
        #expect(!kept.connection.channel.isActive)
        #expect(kept.passed == 1 && kept.connection.journal.cuts.isEmpty)
    }

    @Test("A response that ended its connection is cached for others, without saying so")
    func recorded() throws {
        let kept = try CachingConnection()
        #expect(try kept.record(Self.last, "body").lowercased().contains("connection: close"))
        let second = try CachingConnection(responses: kept.responses)
        for _ in 0..<2 {
            second.connection.receive(Self.head)
            let sent = try second.connection.sent()
            #expect(sent.hasSuffix("\r\n\r\nbody") && !sent.lowercased().contains("connection"))
        }
        second.connection.receive(Self.last)
        #expect(try second.connection.sent().lowercased().contains("connection: close\r\n\r\nbody"))
        #expect(second.passed == 0 && second.connection.socket.isOutputClosed)
    }

    @Test("What is cached for a client that closes is for its token only")
    func tokens() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        kept.connection.receive(
            CachingConnection.head("/kept", "Authorization: Bearer two\r\nConnection: close\r\n")
        )
        #expect(try kept.connection.sent().isEmpty && kept.passed == 2)
    }
}
