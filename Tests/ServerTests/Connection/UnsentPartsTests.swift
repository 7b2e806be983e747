import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Server

@Suite("Large responses whose client takes little")
struct UnsentPartsTests {
    private let text = String(repeating: "x", count: 200_000)

    /// A connection with a request, whose client takes nothing.
    private func stalled(_ fields: String = "") throws -> EmbeddedConnection {
        let connection = try EmbeddedConnection()
        connection.receive("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        set(connection, isWritable: false)
        return connection
    }

    private func set(_ connection: EmbeddedConnection, isWritable: Bool) {
        connection.channel.isWritable = isWritable
        connection.channel.pipeline.fireChannelWritabilityChanged()
    }

    @Test("TRUST-23 a body is passed on as its client takes it, and counted until then; what is pipelined waits")
    func pieces() throws {
        let connection = try stalled()
        connection.application.respond(text)
        #expect(try connection.sent() == "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n")
        #expect(connection.open.held == 200_000)
        connection.receive("GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(connection.application.heads.map(\.uri) == ["/"])
        set(connection, isWritable: true)
        #expect(try connection.sent() == text && connection.open.held == 0)
        #expect(connection.application.heads.map(\.uri) == ["/", "/b"])
        connection.application.respond("next")
        #expect(try connection.sent().hasSuffix("\r\n\r\nnext"))
    }

    @Test("The connection closes behind the body, not before it, whoever closes it")
    func close() throws {
        let connection = try stalled("Connection: close\r\n")
        connection.application.respond(text)
        connection.channel.close(mode: .output, promise: nil)
        #expect(!connection.socket.isOutputClosed && connection.channel.isActive)
        _ = try connection.sent()
        set(connection, isWritable: true)
        #expect(try connection.sent() == text && connection.socket.isOutputClosed)
    }

    @Test("A client that leaves holds nothing, and one that takes nothing is cut")
    func ended() throws {
        let connection = try stalled()
        connection.application.respond(text)
        connection.channel.pipeline.fireChannelInactive()
        #expect(connection.open.held == 0)
        let silent = try stalled()
        silent.socket.takesBytes = false
        silent.application.respond(text)
        silent.advance(seconds: 40)
        #expect(!silent.channel.isActive && silent.journal.cuts == [.writeStalled])
    }
}
