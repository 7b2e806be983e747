import Concurrency
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTP2
import TestKit
import Testing

@testable import Server

@Suite("Repeated requests of HTTP/2, ahead of NIO")
struct HTTP2RepeatHandlerResponsesTests {
    /// The response to the next request, and whether NIO decoded it.
    private static func repeated(_ connection: EmbeddedHTTP2) -> (response: StreamResponse, isDecoded: Bool) {
        let before = connection.decoded.count
        let stream = connection.request("/a")
        return (connection.response(on: stream), connection.decoded.count > before)
    }

    private static func fields(_ number: Int, _ length: Int) -> [String] {
        [":status: 200", "content-length: \(length)", "etag: \"a:b\"", "x-request-id: run-\(number)"]
    }

    // MARK: Responses

    @Test(
        "SRV-14 a repeated request gets the same response without NIO, however its bytes arrive",
        arguments: [Int.max, 1, 2, 9, 10, 23]
    )
    func repeated(_ piece: Int) throws {
        let connection = try EmbeddedHTTP2.cached("kept", opened: 1 << 20)
        connection.piece = piece
        // The first one that refers to the table is decoded, the others are known.
        for (number, isDecoded) in [(1, true), (2, false), (3, false)] {
            let (response, found) = Self.repeated(connection)
            #expect(response == StreamResponse(heads: [Self.fields(number, 4)], body: "kept", isEnded: true))
            #expect(found == isDecoded)
        }
        #expect(connection.streams.count == 1 && connection.goAways.isEmpty)
        // Streams that NIO gets next are not disturbed.
        let other = connection.request("/b", method: "POST", endStream: false)
        connection.send(other, "abc", endStream: true)
        #expect(connection.streams[1].application.body == "abc")
        connection.streams[1].application.respond("done")
        #expect(connection.response(on: other).body == "done" && connection.server.isActive)
    }

    @Test("Bodies of any size are sent in frames that each client takes, and those of 304 have none")
    func sizes() throws {
        for count in [16_384, 16_385, 60_000] {
            let text = String(repeating: "s", count: count)
            let connection = try EmbeddedHTTP2.cached(text, opened: 1 << 24)
            connection.request("/a")
            let (response, isDecoded) = Self.repeated(connection)
            #expect(response.body == text && response.isEnded && !isDecoded)
        }
        // Nothing of the window is needed.
        let empty = try EmbeddedHTTP2.cached("", status: .notModified)
        empty.request("/a")
        let (response, isDecoded) = Self.repeated(empty)
        #expect(response.status == ":status: 304" && response.isEnded && !isDecoded)
    }

    @Test("A request with another identity, of a trace, or that is seldom repeated is decoded by NIO")
    func others() throws {
        let connection = try EmbeddedHTTP2.cached("kept", opened: 1 << 20)
        let trace = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        for field in [("x-request-id", "mine"), trace] {
            for _ in 1...3 { connection.request("/a", [field]) }
        }
        #expect(connection.decoded.count == 7)
        connection.request("/a")
        #expect(Self.repeated(connection).isDecoded == false)
        connection.advance(seconds: 2)
        let decoded = (1...2).map { _ in Self.repeated(connection).isDecoded }
        #expect(decoded == [true, false] && connection.streams.count == 1)
    }

    @Test("A block that changes the table makes all blocks unknown")
    func table() throws {
        let connection = try EmbeddedHTTP2.cached("kept", opened: 1 << 20)
        connection.request("/a")
        #expect(Self.repeated(connection).isDecoded == false)
        connection.request("/b", [("x-new", "1")])
        #expect(Self.repeated(connection).isDecoded)
        #expect(Self.repeated(connection).isDecoded == false)
    }

    @Test("What is no longer valid is not sent again: the application responds")
    func ended() throws {
        let changes = VersionCounter()
        let connection = try EmbeddedHTTP2.cached("kept", opened: 1 << 20, changeToken: ChangeToken(of: changes))
        connection.request("/a")
        #expect(Self.repeated(connection).isDecoded == false)
        changes.bump()
        let (response, isDecoded) = Self.repeated(connection)
        #expect(isDecoded && response.heads.isEmpty && connection.streams.count == 2)
    }

    /// Returns the lines of requests, without their times.
    private static func lines(_ log: LogRecorder) -> [String] {
        log.entries(from: .info).map { entry in
            let fields = entry.metadata.filter { $0.key != "ms" }.map { "\($0.key)=\($0.value)" }
            return "\(entry.message) \(fields.sorted().joined(separator: " "))"
        }
    }

    @Test("A line of the log is the same, whether NIO has decoded the request or not")
    func log() throws {
        let log = LogRecorder()
        let connection = try EmbeddedHTTP2.cached("kept", opened: 1 << 20, logger: log.logger)
        for _ in 1...3 { connection.request("/a") }
        let lines = Self.lines(log)
        #expect(connection.decoded.count == 2 && lines.count == 3)
        let first = lines[0]
        #expect(first.contains("run-1"))
        #expect(lines[1...] == [2, 3].map { first.replacing("run-1", with: "run-\($0)") }[...])
    }

    // MARK: Windows

    @Test("A client that opens no window is served by NIO, as far as its window goes")
    func closed() throws {
        let text = String(repeating: "w", count: 30_000)
        let connection = try EmbeddedHTTP2.cached(text)
        let streams = (1...2).map { _ in connection.request("/a") }
        #expect(connection.response(on: streams[0]).body == text)
        #expect(connection.response(on: streams[1]).body.utf8.count == 5535 && connection.decoded.count == 3)
        // Late, and in small pieces.
        for _ in 1...300 { connection.send(.rootStream, .windowUpdate(windowSizeIncrement: 100)) }
        #expect(connection.response(on: streams[1]).body == text && connection.response(on: streams[1]).isEnded)
        #expect(connection.journal.cuts.isEmpty && connection.goAways.isEmpty)
    }

    @Test("What NIO lacks of the window it gets, also if the client opens it once only")
    func shared() throws {
        let text = String(repeating: "w", count: 50_000)
        let connection = try EmbeddedHTTP2.cached(text, window: 1 << 24, opened: 4 << 20)
        connection.request("/a")
        for _ in 1...10 { #expect(Self.repeated(connection).isDecoded == false) }
        let large = String(repeating: "l", count: 3 << 20)
        let stream = connection.request("/large")
        connection.streams[1].application.respond(large)
        #expect(connection.response(on: stream).body == large && connection.response(on: stream).isEnded)
    }

    @Test("Within a frame that is arriving NIO has all of the window")
    func uploads() throws {
        let connection = try EmbeddedHTTP2.cached("kept", window: 1 << 24, opened: 4 << 20)
        let upload = connection.request("/up", method: "POST", endStream: false)
        connection.inject(Array(RawFrame(kind: 0, stream: Int(upload), payload: [1, 2, 3]).bytes.dropLast()))
        let large = String(repeating: "l", count: 3 << 20)
        connection.streams[1].application.respond(large)
        #expect(connection.response(on: upload).body == large)
    }

    @Test("A body beyond the window of a stream is sent by NIO, also if the client changes that")
    func streamWindow() throws {
        let connection = try EmbeddedHTTP2.cached("kept", opened: 1 << 20)
        connection.request("/a")
        #expect(Self.repeated(connection).isDecoded == false)
        let settings = HTTP2Setting(parameter: .initialWindowSize, value: 3)
        connection.send(.rootStream, .settings(.settings([settings])))
        let stream = connection.request("/a")
        #expect(connection.response(on: stream).body == "kep")
        connection.send(stream, .windowUpdate(windowSizeIncrement: 1))
        #expect(connection.response(on: stream).isEnded)
        connection.send(.rootStream, .settings(.settings([HTTP2Setting(parameter: .initialWindowSize, value: 4)])))
        #expect(Self.repeated(connection).isDecoded == false)
    }

    @Test("After another size of the table, the next header block is one of NIO")
    func tableSize() throws {
        let connection = try EmbeddedHTTP2.cached("kept", opened: 1 << 20)
        connection.request("/a")
        for size in [0, 4096] {
            let settings = HTTP2Setting(parameter: .headerTableSize, value: size)
            connection.send(.rootStream, .settings(.settings([settings])))
            let decoded = (1...2).map { _ in Self.repeated(connection) }
            #expect(decoded.map(\.isDecoded) == [true, false])
            #expect(decoded.map(\.response.body) == ["kept", "kept"])
        }
    }

    @Test("Requests, responses and windows at random: each response is whole in the end", arguments: 1...12)
    func property(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let text = String(repeating: "k", count: Int.random(in: 0...40_000, using: &random))
        let window = [20_000, 65_535, 1 << 20].randomElement(using: &random) ?? 0
        let connection = try EmbeddedHTTP2.cached(text, window: window)
        connection.send(.rootStream, .windowUpdate(windowSizeIncrement: 1 << 17))
        if window < text.utf8.count { connection.send(1, .windowUpdate(windowSizeIncrement: 40_000)) }
        var (expected, size) = ([HTTP2StreamID: String](), window)
        for _ in 1...150 { Self.step(connection, text, &expected, size: &size, &random) }
        let settings = HTTP2Setting(parameter: .initialWindowSize, value: 1 << 24)
        connection.send(.rootStream, .settings(.settings([settings])))
        connection.send(.rootStream, .windowUpdate(windowSizeIncrement: 1 << 28))
        for (stream, body) in expected {
            let response = connection.response(on: stream)
            #expect(response.body == body && response.isEnded, "stream \(stream)")
        }
        #expect(connection.goAways.isEmpty && connection.journal.cuts.isEmpty)
        #expect(throws: Never.self) { try connection.client.throwIfErrorCaught() }
    }

    /// Sends a request, a window or a setting at random.
    ///
    /// - Parameters:
    ///   - text: the response that is stored.
    ///   - expected: the body of each response.
    ///   - size: that of a stream's window.
    private static func step(
        _ connection: EmbeddedHTTP2,
        _ text: String,
        _ expected: inout [HTTP2StreamID: String],
        size: inout Int,
        _ random: inout SeededRandom
    ) {
        /// Requests a path, to which the application responds with a text, if it is asked.
        func request(_ path: String, _ text: String, _ fields: [(String, String)] = []) {
            let count = connection.streams.count
            expected[connection.request(path, fields)] = text
            if connection.streams.count > count { connection.streams[count].application.respond(text) }
        }
        connection.piece = [1, 7, 100, .max].randomElement(using: &random) ?? 1
        switch Int.random(in: 0...9, using: &random) {
        case 0...4:
            request("/a", text)
        case 5:
            let other = String(repeating: "o", count: Int.random(in: 0...100_000, using: &random))
            request("/b", other, [("x", "\(Int.random(in: 0...3, using: &random))")])
        case 6:
            let count = Int.random(in: 1...100_000, using: &random)
            connection.send(.rootStream, .windowUpdate(windowSizeIncrement: count))
        case 7:
            guard let stream = expected.keys.sorted().randomElement(using: &random),
                connection.response(on: stream).isEnded
            else { break }
            connection.inject(RawFrame.windowUpdate(Int(stream), 1).bytes)
        case 8:
            // No smaller one: an assertion of NIO's fails if a stream whose last frame is empty has less than none.
            size += Int.random(in: 0...10_000, using: &random)
            let settings = HTTP2Setting(parameter: .initialWindowSize, value: size)
            connection.send(.rootStream, .settings(.settings([settings])))
        default:
            connection.server.embeddedEventLoop.advanceTime(by: .milliseconds(400))
        }
    }
}
