import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTP2
import Testing

@testable import Server

@Suite("What repeated requests of HTTP/2 leave for NIO")
struct HTTP2RepeatHandlerTests {
    /// A request for `/a` whose block refers to no table.
    private static let block: [UInt8] = [0x82, 0x87, 0x01, 0x01, 0x61, 0x04, 0x02, 0x2F, 0x61]

    /// One for `/`, which is not cached.
    private static let other: [UInt8] = [0x82, 0x87, 0x01, 0x01, 0x61, 0x84]

    private static func request(_ stream: Int, flags: UInt8 = 5, _ block: [UInt8] = block) -> [UInt8] {
        RawFrame(kind: 1, flags: flags, stream: stream, payload: block).bytes
    }

    /// A connection whose client sends bytes, up to the second response.
    private static func raw() throws -> EmbeddedHTTP2 {
        let begin = RawFrame.preface + RawFrame.settings().bytes + RawFrame.windowUpdate(0, 1 << 20).bytes
        let connection = try EmbeddedHTTP2.cached("kept", raw: begin + request(1))
        connection.inject(request(3))
        _ = try connection.frames()
        return connection
    }

    /// The kinds of the frames that the server sends for bytes, each with its stream.
    private static func sent(_ connection: EmbeddedHTTP2, for bytes: [UInt8]) throws -> [String] {
        connection.inject(bytes)
        return try connection.frames().map { "\($0.kind) on \($0.stream)" }
    }

    @Test("Many requests of one read get their responses in their order, and one that is unknown goes to NIO")
    func many() throws {
        let connection = try Self.raw()
        let bytes = [5, 7, 9].flatMap { Self.request($0) } + Self.request(11, Self.other) + Self.request(13)
        #expect(try Self.sent(connection, for: bytes) == [5, 7, 9, 13].flatMap { ["1 on \($0)", "0 on \($0)"] })
        #expect(connection.decoded.count == 3 && connection.streams.count == 2)
    }

    @Test("A priority changes nothing; padding, and a stream that depends on itself, are for NIO")
    func flags() throws {
        let connection = try Self.raw()
        let priority: [UInt8] = [0, 0, 0, 0, 15]
        #expect(try Self.sent(connection, for: Self.request(5, flags: 0x25, priority + Self.block)).count == 2)
        #expect(connection.decoded.count == 2)
        // It is not known whether it has changed the table.
        #expect(try Self.sent(connection, for: Self.request(7, flags: 0x0D, [1] + Self.block + [0])).count == 2)
        #expect(connection.decoded.count == 3)
        #expect(try Self.sent(connection, for: Self.request(9)).count == 2)
        #expect(try Self.sent(connection, for: Self.request(11)).count == 2)
        #expect(connection.decoded.count == 4)
        let itself: [UInt8] = [0, 0, 0, 13, 15]
        #expect(try Self.sent(connection, for: Self.request(13, flags: 0x25, itself + Self.block)).first == "7 on 0")
        #expect(connection.journal.cuts == [.http2])
    }

    @Test("A block in several frames is for NIO, and nothing comes between them")
    func continuation() throws {
        let connection = try Self.raw()
        let (first, rest) = (Array(Self.block.prefix(4)), Array(Self.block.dropFirst(4)))
        #expect(try Self.sent(connection, for: Self.request(5, flags: 1, first)).isEmpty)
        let end = RawFrame(kind: 9, flags: 4, stream: 5, payload: rest).bytes
        let sent = try Self.sent(connection, for: end + Self.request(7))
        #expect(sent.sorted() == ["0 on 5", "0 on 7", "1 on 5", "1 on 7"])
        #expect(connection.decoded.count == 4 && connection.journal.cuts.isEmpty)
    }

    @Test("Late frames of a stream that has ended change nothing, whether NIO knows it or not")
    func late() throws {
        let connection = try Self.raw()
        let reset = { (stream: Int) in RawFrame(kind: 3, stream: stream, payload: [0, 0, 0, 8]).bytes }
        for stream in [5, 7] {
            #expect(try Self.sent(connection, for: Self.request(stream)).count == 2)
            let frames = RawFrame.windowUpdate(stream, 9).bytes + reset(stream)
            #expect(try Self.sent(connection, for: frames + reset(3)).isEmpty)
        }
        #expect(try Self.sent(connection, for: Self.request(9, Self.other)).isEmpty)
        #expect(try Self.sent(connection, for: RawFrame.windowUpdate(5, 9).bytes + reset(7)).isEmpty)
        #expect(connection.streams.count == 2 && connection.server.isActive)
    }

    @Test(
        "What is wrong on a stream that NIO does not know ends the connection",
        arguments: [
            request(5), request(3), request(4), RawFrame(kind: 0, stream: 5, payload: [1]).bytes,
            RawFrame(kind: 8, stream: 5, payload: [0, 0, 0, 0]).bytes, RawFrame(kind: 3, stream: 5, payload: [0]).bytes,
            RawFrame(kind: 9, flags: 4, stream: 5).bytes, RawFrame(kind: 3, stream: 7, payload: [0, 0, 0, 8]).bytes,
            request(5, flags: 1), RawFrame.windowUpdate(0, 0).bytes, RawFrame.windowUpdate(0, Int(Int32.max)).bytes,
        ]
    )
    func wrong(_ bytes: [UInt8]) throws {
        let connection = try Self.raw()
        connection.inject(Self.request(5))
        #expect(connection.decoded.count == 2)
        connection.inject(bytes)
        #expect(connection.journal.cuts == [.http2] && !connection.server.isActive)
    }

    @Test("Resets of such streams are limited as those of others (CVE-2023-44487)")
    func resets() throws {
        let connection = try Self.raw()
        var stream = 5
        while connection.server.isActive, stream < 6 * HTTP2Limits.resets {
            connection.inject(Self.request(stream) + RawFrame(kind: 3, stream: stream, payload: [0, 0, 0, 8]).bytes)
            stream += 2
        }
        #expect(stream == 5 + 2 * (HTTP2Limits.resets + 1) && connection.journal.cuts == [.http2])
    }

    @Test("No more streams than the limit: beyond it the connection ends, as without a cache")
    func streams() throws {
        let connection = try Self.raw()
        for stream in 2...101 { connection.inject(Self.request(2 * stream + 1, Self.other)) }
        connection.server.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(connection.streams.count == 101 && connection.server.isActive)
        connection.inject(Self.request(301))
        #expect(connection.journal.cuts == [.http2])
    }

    @Test("A client that does not take its bytes is sent no more, and is closed after some time")
    func stalled() throws {
        let connection = try Self.raw()
        connection.server.isWritable = false
        #expect(try Self.sent(connection, for: Self.request(5)).isEmpty && connection.decoded.count == 3)
        connection.server.isWritable = true
        connection.server.pipeline.fireChannelWritabilityChanged()
        #expect(try connection.frames().map(\.stream) == [5, 5])
        connection.socket.takesBytes = false
        connection.inject(Self.request(7))
        #expect(connection.decoded.count == 3)
        connection.server.embeddedEventLoop.advanceTime(by: .seconds(40))
        #expect(!connection.server.isActive && connection.journal.cuts.contains(.writeStalled))
    }

    @Test("Requests wait for the turn of their client")
    func turns() throws {
        let connection = try EmbeddedHTTP2.cached("kept", units: 1, opened: 1 << 20)
        let streams = (1...6).map { _ in connection.request("/a") }
        #expect(streams.allSatisfy { connection.response(on: $0).body == "kept" })
        #expect(connection.streams.count == 1)
    }

    @Test("The idle time begins with the last response, and the end names its stream")
    func idle() throws {
        let connection = try EmbeddedHTTP2.cached(
            "kept",
            opened: 1 << 20,
            limits: ConnectionLimits(idleTimeout: .seconds(60))
        )
        connection.advance(seconds: 50)
        let streams = (1...2).map { _ in connection.request("/a") }
        #expect(connection.decoded.count == 2)
        connection.advance(seconds: 50)
        #expect(connection.server.isActive)
        connection.advance(seconds: 11)
        #expect(connection.goAways.map(\.last) == [streams[1]] && !connection.server.isActive)
    }

    @Test("A server that stops responds to what has begun only")
    func stop() throws {
        let connection = try Self.raw()
        #expect(try Self.sent(connection, for: Self.request(5, Self.other)).isEmpty)
        connection.inject(Self.request(7))
        connection.server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        let frames = try connection.frames()
        #expect(frames.map(\.stream) == [7, 7, 0] && frames.last?.payload.prefix(4) == [0, 0, 0, 7])
        #expect(try Self.sent(connection, for: Self.request(9)).isEmpty && connection.server.isActive)
    }

    @Test("A client that says farewell is served by NIO")
    func farewell() throws {
        let connection = try Self.raw()
        connection.inject(RawFrame(kind: 7, payload: [0, 0, 0, 0, 0, 0, 0, 0]).bytes)
        connection.inject(Self.request(5))
        #expect(connection.decoded.count == 3)
    }

    // MARK: Frames that NIO does not survive

    @Test("SRV-14 windows of open streams that are made smaller end the connection, not the process")
    func narrowed() throws {
        let begin = RawFrame.preface + RawFrame.settings([(4, 10)]).bytes
        let connection = try EmbeddedHTTP2(raw: begin + Self.request(1))
        let application = connection.streams[0].application
        application.begin(headers: ["Content-Length": "10"])
        application.write("0123456789")
        // Of the next stream, and of those that are open: NIO would send the end of a stream with less than nothing.
        connection.inject(RawFrame.settings([(4, 5)]).bytes)
        #expect(!connection.server.isActive && connection.journal.cuts == [.http2])
        application.end()
        connection.inject(RawFrame.windowUpdate(0, 1).bytes)
    }

    @Test("Windows are made smaller without open streams, and larger with them; settings beyond measure end it")
    func settings() throws {
        let connection = try EmbeddedHTTP2(raw: RawFrame.preface + RawFrame.settings([(4, 10)]).bytes)
        connection.inject(RawFrame.settings([(4, 5)]).bytes + Self.request(1))
        connection.inject(RawFrame.settings([(4, 0), (4, 7)]).bytes)
        #expect(connection.server.isActive && connection.streams.count == 1)
        connection.inject(RawFrame.settings(Array(repeating: (9, 1), count: 700)).bytes)
        #expect(!connection.server.isActive && connection.journal.cuts == [.http2])
    }
}
