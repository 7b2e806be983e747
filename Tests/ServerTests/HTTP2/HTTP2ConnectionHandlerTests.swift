import Concurrency
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTP2
import TestKit
import Testing

@testable import Server

@Suite("Connections of HTTP/2")
struct HTTP2ConnectionHandlerTests {
    // MARK: The end

    @Test("SRV-14 a server that stops tells the client, completes what it has begun, and closes")
    func stop() throws {
        let connection = try EmbeddedHTTP2()
        let stream = connection.request()
        connection.server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(connection.goAways.map(\.code) == [.noError] && connection.goAways.first?.last == stream)
        #expect(connection.server.isActive)
        connection.streams[0].application.respond("whole")
        #expect(connection.response(on: stream).body == "whole" && connection.response(on: stream).isEnded)
        #expect(!connection.server.isActive && connection.journal.cuts.isEmpty)
    }

    @Test("A connection without streams closes at once if the server stops")
    func stopIdle() throws {
        let connection = try EmbeddedHTTP2()
        connection.server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(connection.goAways.map(\.code) == [.noError] && !connection.server.isActive)
    }

    @Test("SRV-14 a connection without streams ends after the idle time, one with a stream does not")
    func idle() throws {
        let connection = try EmbeddedHTTP2(ConnectionLimits(idleTimeout: .seconds(60)))
        let stream = connection.request()
        connection.advance(seconds: 120)
        #expect(connection.server.isActive)
        connection.streams[0].application.respond("late")
        #expect(connection.response(on: stream).isEnded)
        connection.advance(seconds: 59)
        #expect(connection.server.isActive)
        connection.advance(seconds: 2)
        #expect(!connection.server.isActive && connection.goAways.map(\.code) == [.noError])
        #expect(connection.journal.cuts == [.idle])
    }

    @Test("A client that takes nothing of what is written for it is cut, however many streams it has")
    func stalled() throws {
        let connection = try EmbeddedHTTP2()
        connection.socket.takesBytes = false
        let stream = connection.request()
        connection.streams[0].application.respond("unread")
        connection.advance(seconds: 40)
        #expect(!connection.server.isActive && connection.response(on: stream).heads.isEmpty)
        #expect(connection.journal.cuts.contains(.writeStalled))
    }

    @Test("The work of every stream ends with the connection")
    func left() throws {
        let connection = try EmbeddedHTTP2()
        for _ in 1...3 { connection.request() }
        for stream in connection.streams { stream.beginWork() }
        connection.server.pipeline.fireChannelInactive()
        #expect(connection.streams.filter(\.hasLeft).count == 3)
    }

    // MARK: Floods

    /// Frames that a client sends too often.
    enum Flood: CaseIterable, Sendable {
        case resets, pings, settings, priorities, emptyData
    }

    @Test("SRV-14 floods end the connection (CVE-2023-44487 and others)", arguments: Flood.allCases)
    func floods(_ flood: Flood) throws {
        let connection = try EmbeddedHTTP2()
        let upload = connection.request(method: "POST", endStream: false)
        for _ in 0...HTTP2Limits.resets where connection.journal.cuts.isEmpty {
            switch flood {
            case .resets: connection.send(connection.request(), .rstStream(.cancel))
            case .pings: connection.send(.rootStream, .ping(HTTP2PingData(), ack: false))
            case .settings: connection.send(.rootStream, .settings(.settings([])))
            case .priorities:
                let priority = HTTP2Frame.StreamPriorityData(exclusive: false, dependency: .rootStream, weight: 1)
                connection.send(upload, .priority(priority))
            case .emptyData: connection.send(upload, "", endStream: false)
            }
        }
        #expect(connection.goAways.map(\.code) == [.enhanceYourCalm])
        #expect(connection.journal.cuts.contains(.http2) && !connection.server.isActive)
        #expect(connection.streams.allSatisfy { !$0.channel.isActive })
    }

    @Test("SRV-14 no more than a hundred streams are open at once: the others wait at the client")
    func manyStreams() throws {
        let connection = try EmbeddedHTTP2()
        for _ in 1...(HTTP2Limits.streams + 1) { connection.request() }
        connection.advance(seconds: 1)
        #expect(connection.streams.count == HTTP2Limits.streams)
        connection.streams[0].application.respond("done")
        connection.pump()
        #expect(connection.streams.count == HTTP2Limits.streams + 1 && connection.server.isActive)
    }

    /// Bytes of frames that no client of the library would send.
    private static func frame(_ kind: UInt8, flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = [payload.count >> 16, payload.count >> 8, payload.count].map { UInt8(truncatingIfNeeded: $0) }
        return length + [kind, flags, 0, 0, 0, stream] + payload
    }

    private static func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }

    private static let beginning = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, flags: 0, stream: 0, [])

    @Test(
        "SRV-14 heads without an end, heads that are far too large and what is no HTTP/2 end the connection",
        arguments: [
            beginning + frame(1, flags: 0, stream: 1, [0x82])
                + (1...10).flatMap { _ in frame(9, flags: 0, stream: 1, [0x86]) },
            beginning + frame(1, flags: 0, stream: 1, bytes(0x82, 16_000))
                + (1...4).flatMap { _ in frame(9, flags: 0, stream: 1, bytes(0x82, 16_000)) },
            // One field of some 4 KB, taken from the table again and again.
            beginning
                + frame(
                    1,
                    flags: 4,
                    stream: 1,
                    [0x40, 1, 0x78, 0x7F, 0xA1, 0x1E] + bytes(0x61, 4000) + bytes(0xBE, 2000)
                ),
            beginning + frame(0, flags: 0, stream: 7, [1, 2, 3]),
            Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8),
        ]
    )
    func raw(_ bytes: [UInt8]) throws {
        let connection = try EmbeddedHTTP2(raw: bytes)
        #expect(!connection.server.isActive && connection.journal.cuts == [.http2])
    }

    // MARK: Cached responses

    @Test("SRV-14 a response is recorded on a stream and sent again ahead of streams, with an identity of its own")
    func cachedResponse() throws {
        let connection = try EmbeddedHTTP2.cached("kept")
        let stream = connection.request("/a", [("x-request-id", "mine")])
        #expect(connection.streams.count == 1)
        let fields = [":status: 200", "content-length: 4", "etag: \"a:b\"", "x-request-id: mine"]
        #expect(connection.response(on: stream) == StreamResponse(heads: [fields], body: "kept", isEnded: true))
        // Another head is another request.
        connection.request("/a", [("authorization", "Bearer x")])
        #expect(connection.streams.count == 2)
        connection.advance(seconds: 61)
        #expect(connection.server.isActive)
    }

    @Test("Cached responses wait for the turn of their client, and are forgotten with their stream")
    func postponed() throws {
        let connection = try EmbeddedHTTP2.cached("kept", units: 1)
        // Written together: the rounds of the queue end between reads.
        let streams = (1...4).map { _ in connection.request("/a") }
        #expect(streams.allSatisfy { connection.response(on: $0).body == "kept" })
        #expect(connection.streams.count == 1)
    }

    @Test("Cached responses are sent as far as the client opens its windows, and given up if it does not")
    func windows() throws {
        let text = String(repeating: "y", count: 40_000)
        let connection = try EmbeddedHTTP2.cached(text, window: 30_000)
        let recorded: HTTP2StreamID = 1
        connection.send(recorded, .windowUpdate(windowSizeIncrement: 20_000))
        connection.send(.rootStream, .windowUpdate(windowSizeIncrement: 1 << 20))
        #expect(connection.response(on: recorded).body == text)
        let slow = connection.request("/a")
        #expect(connection.response(on: slow).body.utf8.count == 30_000)
        connection.advance(seconds: 20)
        connection.send(slow, .windowUpdate(windowSizeIncrement: 20_000))
        #expect(connection.response(on: slow).body == text && connection.response(on: slow).isEnded)
        let stalled = connection.request("/a")
        connection.advance(seconds: 40)
        #expect(connection.response(on: stalled).reset == .cancel && connection.journal.cuts == [.writeStalled])
        #expect(connection.server.isActive && connection.streams.count == 1)
    }

    @Test("TRUST-23 cached responses that wait for windows are counted, and shared")
    func counted() throws {
        let connection = try EmbeddedHTTP2.cached(String(repeating: "z", count: 60_000), window: 0)
        let before = connection.open.held
        let stream = connection.request("/a")
        #expect(connection.streams.count == 1 && connection.open.held - before > 60_000)
        connection.send(stream, .rstStream(.cancel))
        #expect(connection.open.held == before)
    }
}
