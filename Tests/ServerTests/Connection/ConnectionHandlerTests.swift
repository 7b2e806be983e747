import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Server

@Suite("The connection handler in its pipeline")
struct ConnectionHandlerTests {
    private let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("Pipelined requests reach the application one at a time and get their responses in order")
    func pipelining() throws {
        let connection = try EmbeddedConnection()
        connection.receive(get + get + get)
        #expect(connection.application.heads.count == 1)
        connection.application.respond("one")
        #expect(connection.application.heads.count == 2)
        connection.application.respond("two")
        connection.application.respond("three")
        #expect(connection.application.ends == 3)
        let sent = try connection.sent()
        #expect(sent.split(separator: "HTTP/1.1 200 OK").count == 3)
        #expect(sent.hasSuffix("three"))
    }

    @Test("A handler responds to ten thousand pipelined requests on the event loop, and the application sees none")
    func synchronousResponses() throws {
        let connection = try EmbeddedConnection(frontHandlers: [SynchronousResponder()])
        let responder = try connection.channel.pipeline.syncOperations.handler(type: SynchronousResponder.self)
        connection.receive(String(repeating: get, count: 10_000))
        #expect(responder.responded == 10_000)
        #expect(try connection.sent().hasSuffix("n10000"))
        #expect(connection.application.heads.isEmpty)
    }

    @Test("A client that takes no responses is served no further request until it does")
    func responsesDoNotPileUp() throws {
        let connection = try EmbeddedConnection(frontHandlers: [SynchronousResponder()])
        let responder = try connection.channel.pipeline.syncOperations.handler(type: SynchronousResponder.self)
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        let reads = connection.socket.reads
        connection.receive(get + get)
        #expect(responder.responded == 0)
        #expect(connection.socket.reads == reads)
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(responder.responded == 2)
        #expect(connection.socket.reads > reads)
    }

    @Test("While pipelined requests wait, nothing more is read")
    func readingStops() throws {
        let connection = try EmbeddedConnection()
        connection.receive(get)
        let whileResponding = connection.socket.reads
        connection.receive(get)
        #expect(connection.socket.reads == whileResponding)
        connection.application.respond("one")
        #expect(connection.socket.reads > whileResponding)
    }

    @Test("A malformed request behind a good one is refused after the good one's response")
    func refusalInOrder() throws {
        let connection = try EmbeddedConnection()
        connection.receive(get + "GARBAGE\r\n\r\n")
        #expect(try connection.sent() == "")
        connection.application.respond("one")
        let sent = try connection.sent()
        #expect(sent.hasPrefix("HTTP/1.1 200 OK"))
        #expect(sent.contains("oneHTTP/1.1 400 Bad Request"))
        #expect(connection.socket.isOutputClosed)
    }

    @Test("SRV-11 A refusal is a problem with its headers, and the application never sees the request")
    func refusal() throws {
        let connection = try EmbeddedConnection()
        connection.receive("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        let sent = try connection.sent()
        let date = try #require(sent.firstMatch(of: /Date: [^\r]+ GMT\r\n/))
        #expect(
            sent.replacing(date.output, with: "") == """
                HTTP/1.1 400 Bad Request\r
                Content-Type: application/problem+json\r
                Content-Language: of\r
                Vary: Accept-Language\r
                Content-Length: 28\r
                Connection: close\r
                X-Content-Type-Options: nosniff\r
                Cache-Control: no-store\r
                \r
                {"code":"malformed-request"}
                """
        )
        #expect(connection.application.heads.isEmpty)
        #expect(connection.application.errors.isEmpty)
        #expect(connection.journal.refusals.map(\.status) == [400])
        #expect(connection.socket.isOutputClosed)
    }

    @Test("A refused HEAD gets the head of the problem only")
    func refusedHead() throws {
        let connection = try EmbeddedConnection()
        connection.receive("HEAD / HTTP/1.1\r\n\r\n")
        let sent = try connection.sent()
        #expect(sent.contains("Content-Length: 28"))
        #expect(sent.hasSuffix("\r\n\r\n"))
    }

    @Test("A response to HEAD without a length leaves nothing behind it on the connection")
    func headWithoutLength() throws {
        let connection = try EmbeddedConnection()
        connection.receive("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        connection.application.respond("a body that must not go out", headers: [:])
        #expect(try connection.sent().hasSuffix("\r\n\r\n"))
        connection.receive(get)
        connection.application.respond("x")
        #expect(try connection.sent().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test("SRV-11 A head that comes too slowly is refused with 408, and the connection closed")
    func slowHead() throws {
        let connection = try EmbeddedConnection()
        connection.receive("GET / HT")
        connection.advance(seconds: 6)
        connection.receive("TP/1.1\r\n")
        connection.advance(seconds: 3)
        #expect(try connection.sent() == "")
        connection.advance(seconds: 1)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 408"))
        connection.advance(seconds: 2)
        #expect(!connection.channel.isActive)
    }

    @Test("SRV-11 An idle connection is closed silently, counted from its last response")
    func idle() throws {
        let connection = try EmbeddedConnection()
        connection.advance(seconds: 50)
        connection.receive(get)
        connection.advance(seconds: 100)
        connection.application.respond("x")
        _ = try connection.sent()
        connection.advance(seconds: 59)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(try connection.sent() == "")
        #expect(connection.journal.cuts == [.idle])
    }

    @Test("SRV-11 A body without progress is refused with 408 and its reader notified")
    func slowBody() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
        connection.advance(seconds: 19)
        connection.receive("d")
        connection.advance(seconds: 19)
        #expect(try connection.sent() == "")
        connection.advance(seconds: 1)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 408"))
        #expect(connection.application.errors.map { $0 as? RequestBodyError } == [.timedOut])
    }

    @Test("SRV-11 A body with progress all the time still has to end within its deadline")
    func dripBody() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n")
        for _ in 0..<5 {
            connection.advance(seconds: 10)
            connection.receive("d")
        }
        #expect(try connection.sent() == "")
        connection.advance(seconds: 10)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 408"))
    }

    @Test("SRV-11 A client that takes nothing is closed; one that takes a little now and then is not")
    func stalledClient() throws {
        let connection = try EmbeddedConnection()
        connection.receive(get)
        connection.socket.takesBytes = false
        connection.application.begin(headers: ["Content-Length": "1000000"])
        for _ in 0..<10 {
            connection.application.write("more")
            connection.advance(seconds: 20)
            #expect(connection.channel.isActive)
            connection.socket.takesBytes = true
            connection.channel.flush()
            connection.socket.takesBytes = false
        }
        connection.application.write("more")
        connection.advance(seconds: 40)
        #expect(!connection.channel.isActive)
        #expect(connection.journal.cuts == [.writeStalled])
    }

    @Test("A response before the body is whole says close, half-closes, and discards the rest, up to the limit")
    func earlyResponse() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\nabc")
        connection.application.respond("no", status: .payloadTooLarge)
        #expect(try connection.sent().contains("Connection: close"))
        #expect(connection.socket.isOutputClosed)
        let seen = connection.application.body
        connection.receive(String(repeating: "x", count: 60 * 1024))
        #expect(connection.channel.isActive)
        connection.receive(String(repeating: "x", count: 5 * 1024))
        #expect(!connection.channel.isActive)
        #expect(connection.application.body == seen)
    }

    @Test("An early response to a client that sends nothing more is closed after the linger time")
    func lingerTime() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
        connection.application.respond("no", status: .unauthorized)
        connection.advance(seconds: 1)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.journal.cuts.isEmpty)
    }

    @Test("100 Continue is sent before the body, once, and never after the response has begun")
    func expectContinue() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n")
        #expect(try connection.sent() == "")
        for _ in 0..<2 { connection.channel.triggerUserOutboundEvent(BodyDemand(), promise: nil) }
        #expect(try connection.sent() == "HTTP/1.1 100 Continue\r\n\r\n")
        connection.receive("abc")
        connection.application.respond("x")
        #expect(try connection.sent().hasPrefix("HTTP/1.1 200 OK"))
        connection.receive("POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(try connection.sent().hasPrefix("HTTP/1.1 400"))
    }

    @Test("SRV-06 A request that is refused by its head gets its final response and no 100 Continue")
    func refusedWithoutContinue() throws {
        let connection = try EmbeddedConnection()
        connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
        // The time in which the server decides is not the client's.
        connection.advance(seconds: 25)
        connection.application.respond("x", status: .payloadTooLarge)
        let sent = try connection.sent()
        #expect(sent.hasPrefix("HTTP/1.1 413") && sent.lowercased().contains("connection: close"))
        connection.channel.triggerUserOutboundEvent(BodyDemand(), promise: nil)
        #expect(try connection.sent() == "")
    }

    @Test("SRV-11 A client that does not send its body after 100 Continue is cut off as any other")
    func continueWithoutBody() throws {
        let connection = try EmbeddedConnection()
        connection.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        connection.advance(seconds: 50)
        connection.channel.triggerUserOutboundEvent(BodyDemand(), promise: nil)
        #expect(try connection.sent() == "HTTP/1.1 100 Continue\r\n\r\n")
        connection.advance(seconds: 19)
        #expect(try connection.sent() == "")
        connection.advance(seconds: 2)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 408"))
    }

    @Test("SRV-11 An endless chunk extension is refused, and its reader notified")
    func chunkExtension() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3;x=")
        for _ in 0..<8 { connection.receive(String(repeating: "y", count: 4096)) }
        #expect(try connection.sent() == "")
        connection.receive(String(repeating: "y", count: 4096))
        #expect(try connection.sent().hasPrefix("HTTP/1.1 400"))
        #expect(connection.application.errors.map { $0 as? RequestBodyError } == [.malformed])
    }

    /// The beginning of a request with a chunked body.
    private static let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Connections with and without a response cache.
    private func connections() throws -> [EmbeddedConnection] {
        [try EmbeddedConnection(), try CachingConnection().connection]
    }

    @Test(
        "SRV-11 A chunk of 2^63 bytes or more is refused at once, and so is a size that is no number",
        arguments: [
            "8000000000000000", "8000000000000001", "ffffffffffffffff", "FFFFFFFFFFFFFFFF", "10000000000000000",
            "18000000000000000", "0000000000000000000000008000000000000000", "8000000000000000;a=b", "",
            String(repeating: "f", count: 100), " 5", "-1", "+5", "0x5", ";a=b", "5g",
        ]
    )
    func hugeChunks(size: String) throws {
        for before in ["", "3\r\nabc\r\n", "000A;a=\"b\"\r\n8000000000\r\n"] {
            for isSplit in [false, true] {
                for connection in try connections() {
                    let text = Self.chunked + before + size + "\r\n"
                    for piece in isSplit ? text.map({ String($0) }) : [text] { connection.receive(piece) }
                    #expect(try connection.sent().hasPrefix("HTTP/1.1 400 "), "\(before)")
                    #expect(connection.application.errors.map { $0 as? RequestBodyError } == [.malformed])
                    #expect(connection.application.ends == 0)
                }
            }
        }
    }

    @Test(
        "A chunk below 2^63 bytes is waited for, with leading zeros or without",
        arguments: [
            "7fffffff", "80000000", "FFFFFFFF", "100000000", "100000001", "7fffffffffffffff", "4000000000000000",
            "0000000000000000000000007fffffffffffffff", "5", "00000000000000000000000000000005", "5;a=8000000000000000",
        ]
    )
    func largeChunks(size: String) throws {
        for connection in try connections() {
            connection.receive(Self.chunked + size + "\r\nab")
            #expect(try connection.sent() == "")
            #expect(connection.application.body == "ab" && connection.application.errors.isEmpty)
            guard size.hasSuffix("5") else { continue }
            connection.receive("cde\r\n0\r\n\r\n")
            #expect(connection.application.ends == 1 && connection.application.body == "abcde")
        }
    }

    @Test("Thousands of one-byte chunks are framing, not an attack")
    func smallChunks() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<200 { connection.receive(String(repeating: "1\r\nx\r\n", count: 100)) }
        connection.receive("0\r\n\r\n")
        #expect(connection.application.body.utf8.count == 20_000)
        #expect(connection.application.ends == 1)
    }

    @Test(
        "SRV-11 What the decoder or the rules refuse gets a problem and never reaches the application",
        arguments: [
            Hostile("no request line", "GARBAGE\r\n\r\n", 400),
            Hostile("lower-case method", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            Hostile("HTTP/9.9", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", 400),
            Hostile("HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
            Hostile("bare line feeds", "GET / HTTP/1.1\nHost: a\n\n", 400),
            Hostile("folded field", "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n folded\r\n\r\n", 400),
            Hostile("space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
            Hostile("NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nA: b\u{0}c\r\n\r\n", 400),
            Hostile("control character in a value", "GET / HTTP/1.1\r\nHost: a\r\nA: b\u{1}c\r\n\r\n", 400),
            Hostile(
                "vertical tab before chunked",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \u{B}chunked\r\n\r\n",
                400
            ),
            Hostile("gzip, chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400),
            Hostile(
                "chunked and identity",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
                400
            ),
            Hostile(
                "length and chunked",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
                400
            ),
            Hostile("two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
            Hostile("raw UTF-8 in the target", "GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            Hostile("bad percent-encoding", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            Hostile("CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            Hostile("endless target", "GET /" + String(repeating: "a", count: 40_000), 431),
            Hostile("long target", "GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
            Hostile("endless field", "GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "a", count: 40_000), 431),
            Hostile(
                "too many fields",
                "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "A: b\r\n", count: 101) + "\r\n",
                431
            ),
        ]
    )
    func refusedBytes(hostile: Hostile) throws {
        let connection = try EmbeddedConnection()
        connection.receive(hostile.bytes)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 \(hostile.status) "))
        #expect(connection.application.heads.isEmpty)
        #expect(connection.application.errors.isEmpty)
        #expect(connection.journal.refusals.count == 1)
    }

    @Test("Bytes after a request for an upgrade do not accumulate, and its response closes the connection")
    func upgrade() throws {
        let connection = try EmbeddedConnection()
        connection.receive("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        #expect(connection.application.ends == 1)
        connection.receive(String(repeating: "x", count: 40_000))
        let reads = connection.socket.reads
        connection.receive("x")
        #expect(connection.socket.reads == reads)
        connection.application.respond("plain")
        #expect(try connection.sent().contains("Connection: close"))
        #expect(connection.socket.isOutputClosed)
    }

    @Test("SRV-12 A stopping server closes an idle connection at once")
    func quiesceIdle() throws {
        let connection = try EmbeddedConnection()
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(!connection.channel.isActive)
    }

    @Test("SRV-12 A stopping server lets a body arrive and its response be sent, then closes")
    func quiesceBusy() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        connection.receive("def" + get)
        #expect(connection.application.body == "abcdef")
        connection.application.respond("done")
        let sent = try connection.sent()
        #expect(sent.contains("Connection: close"))
        #expect(sent.hasSuffix("done"))
        #expect(connection.application.heads.count == 1)
        #expect(connection.socket.isOutputClosed)
    }

    @Test("A truncated body is an error to its reader, not an end")
    func truncatedBody() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(connection.application.errors.map { $0 as? RequestBodyError } == [.truncated])
        #expect(connection.application.ends == 0)
        #expect(!connection.channel.isActive)
        #expect(connection.journal.cuts == [.truncatedRequest])
    }

    @Test("A connection that is reset within a body is a truncated body to its reader")
    func resetBody() throws {
        let connection = try EmbeddedConnection()
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
        connection.channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNRESET, reason: "read"))
        #expect(connection.application.errors.first as? RequestBodyError == .truncated)
        #expect(connection.application.errors.allSatisfy { $0 is RequestBodyError })
        #expect(connection.application.ends == 0)
        #expect(!connection.channel.isActive)
    }

    @Test("However the bytes are cut into pieces, the same responses are sent", arguments: [1, 2, 3, 7, 50])
    func pieces(length: Int) throws {
        let chunked =
            "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nT: t\r\n\r\n"
        let bytes = Array((get + chunked + get + "GARBAGE\r\n\r\n").utf8)
        let connection = try EmbeddedConnection()
        var responded = 0
        for start in stride(from: 0, to: bytes.count, by: length) {
            connection.receive(String(decoding: bytes[start..<min(start + length, bytes.count)], as: UTF8.self))
            if connection.application.ends > responded {
                responded += 1
                connection.application.respond("n\(responded)")
            }
        }
        while connection.application.ends > responded {
            responded += 1
            connection.application.respond("n\(responded)")
        }
        #expect(responded == 3)
        #expect(connection.application.body == "abcd")
        let sent = try connection.sent()
        #expect(sent.split(separator: "HTTP/1.1 200 OK").count == 3)
        #expect(sent.contains("n3HTTP/1.1 400 Bad Request"))
    }

    @Test("Empty lines without end are refused")
    func emptyLines() throws {
        let connection = try EmbeddedConnection()
        for _ in 0..<10 { connection.receive(String(repeating: "\r\n", count: 2000)) }
        #expect(try connection.sent().hasPrefix("HTTP/1.1 431"))
    }
}

/// Bytes no server should take for a request, with a short name: some are too long to be printed.
struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: String
    let status: Int

    init(_ name: String, _ bytes: String, _ status: Int) {
        testDescription = name
        self.bytes = bytes
        self.status = status
    }
}
