import Concurrency
import HTTP
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTP2
import TestKit
import Testing

@testable import Server

@Suite("What a connection of HTTP/2 holds")
struct HTTP2HeldBytesTests {
    @Test("TRUST-23 requests wait beside responses that the client does not take, and begin when it does")
    func waiting() throws {
        let connections = OpenConnections(limit: .max, exempt: .none, budget: 8 << 20)
        let connection = try EmbeddedHTTP2(window: 0, connections: connections)
        let streams = (1...10).map { _ in connection.request() }
        let text = String(repeating: "x", count: 300_000)
        var answered = 0
        func answer() {
            while answered < connection.streams.count {
                connection.streams[answered].application.respond(text)
                answered += 1
            }
            connection.advance(seconds: 1)
        }
        for _ in 1...4 { answer() }
        #expect((2...5).contains(answered) && connection.streams.count == answered)
        #expect(connection.open.held < 3 << 20 && connections.held == connection.open.held)
        connection.send(.rootStream, .windowUpdate(windowSizeIncrement: 1 << 24))
        for stream in streams { connection.send(stream, .windowUpdate(windowSizeIncrement: 1 << 20)) }
        for _ in 1...10 { answer() }
        #expect(streams.allSatisfy { connection.response(on: $0) == Self.whole(text) })
        #expect(connection.open.held == 0 && connection.journal.cuts.isEmpty)
    }

    private static func whole(_ text: String) -> StreamResponse {
        StreamResponse(heads: [[":status: 200", "content-length: \(text.utf8.count)"]], body: text, isEnded: true)
    }

    @Test("TRUST-23 a request that waits keeps its body in its order, and is forgotten with its stream")
    func body() throws {
        let connections = OpenConnections(limit: .max, exempt: .none, budget: 1 << 20)
        let connection = try EmbeddedHTTP2(connections: connections)
        let first = connection.request()
        let second = connection.request(method: "POST", endStream: false)
        connection.send(second, "ab", endStream: false)
        connection.send(second, "c", endStream: true)
        let left = connection.request("/left")
        connection.send(left, .rstStream(.cancel))
        #expect(connection.streams.count == 1)
        connection.streams[0].application.respond("first")
        #expect(connection.response(on: first).body == "first")
        #expect(connection.streams.count == 2 && connection.streams[1].application.body == "abc")
        connection.streams[1].application.respond("second")
        #expect(connection.response(on: second).body == "second" && connection.open.held == 0)
    }

    @Test("A response that takes long delays other requests for a moment only")
    func patience() throws {
        let connections = OpenConnections(limit: .max, exempt: .none, budget: 1 << 20)
        let connection = try EmbeddedHTTP2(connections: connections)
        for _ in 1...3 { connection.request() }
        #expect(connection.streams.count == 1)
        connection.server.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(connection.streams.count == 2)
        connection.advance(seconds: 1)
        #expect(connection.streams.count == 3)
    }

    @Test("TRUST-23 60 connections with 100 streams whose windows stay shut hold what they may, and others are served")
    func shutWindows() throws {
        let connections = OpenConnections(limit: .max, exempt: .none)
        let text = String(repeating: "x", count: 800_000)
        let stalled = try (1...60).map { _ in
            let connection = try EmbeddedHTTP2(window: 0, connections: connections)
            for _ in 1...100 { connection.request() }
            var answered = 0
            for _ in 1...3 {
                for stream in connection.streams[answered...] { stream.application.respond(text) }
                answered = connection.streams.count
                connection.advance(seconds: 1)
            }
            return connection
        }
        for connection in stalled { connection.pump() }
        #expect(connections.held <= connections.budget * 3 / 2)
        #expect(stalled.filter { !$0.server.isActive }.count < 10)
        #expect(stalled.reduce(0) { $0 + $1.streams.count } < 300)
        let other = try EmbeddedHTTP2(connections: connections)
        let stream = other.request()
        other.streams.first?.application.respond("served")
        #expect(other.response(on: stream).body == "served")
    }

    // MARK: Tables

    /// The beginning of the header block of the first response to a client that offers a table to the encoder.
    private static func block(offering size: Int) throws -> [UInt8] {
        let request = RawFrame(kind: 1, flags: 5, stream: 1, payload: [0x82, 0x87, 0x01, 0x01, 0x61, 0x84]).bytes
        let raw = RawFrame.preface + RawFrame.settings([(9, 7), (1, size)]).bytes + request
        let connection = try EmbeddedHTTP2(raw: raw)
        connection.streams[0].application.respond("a")
        let frames = try connection.frames()
        #expect(connection.journal.cuts.isEmpty && frames.filter { $0.kind == 1 }.count == 1)
        return frames.first { $0.kind == 1 }?.payload ?? []
    }

    @Test(
        "TRUST-23 the encoder's table has 4 KiB at most, whatever a client offers",
        arguments: [4096, 65_536, (1 << 32) - 1]
    )
    func largeTable(_ size: Int) throws {
        // `:status: 200`, without a change of the table's size before it.
        #expect(try Self.block(offering: size).first == 0x88)
    }

    @Test("A smaller table is what the client gets")
    func smallTable() throws {
        #expect(try Self.block(offering: 100).prefix(3) == [0x3F, 0x45, 0x88])
    }

    @Test("TRUST-23 fields that hardly ever have the same value again enter no table")
    func unindexed() throws {
        let connection = try EmbeddedHTTP2(
            raw: RawFrame.preface + RawFrame.settings().bytes
                + RawFrame(kind: 1, flags: 5, stream: 1, payload: [0x82, 0x87, 0x01, 0x01, 0x61, 0x84]).bytes
        )
        connection.streams[0].application.respond(
            "",
            headers: [
                "Content-Length": "0", "X-Request-Id": "a", "ETag": "b", "Date": "c", "Location": "d",
                "Set-Cookie": "e",
            ]
        )
        let block = try #require(try connection.frames().first { $0.kind == 1 }).payload
        #expect(block.count > 20 && block.withUnsafeBytes(HeaderBlock.leavesTable))
    }
}
