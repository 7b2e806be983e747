import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Server

@Suite("Cached responses ahead of the decoder") struct ResponseCacheHandlerTests {
    private static let head = CachingConnection.head("/kept", "Authorization: Bearer one\r\n")
    private static let other = CachingConnection.head("/other")

    @Test("SRV-06 The same bytes get the same response without going inward")
    func given() throws {
        let kept = try CachingConnection()
        let first = try kept.record(Self.head, "body")
        #expect(first.hasSuffix("\r\n\r\nbody"))
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().lowercased() == first.lowercased())
        #expect(kept.passed == 1)
    }

    @Test("Another token, or any other byte, is another question")
    func keys() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        kept.connection.receive(CachingConnection.head("/kept", "Authorization: Bearer two\r\n"))
        #expect(try kept.connection.sent() == "")
        #expect(kept.passed == 2)
    }

    @Test("Another connection gets what was recorded here")
    func shared() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        let second = try CachingConnection(responses: kept.responses)
        second.connection.receive(Self.head)
        #expect(try second.connection.sent().hasSuffix("body"))
        #expect(second.passed == 0)
    }

    @Test("A head in two pieces is passed on wherever it is cut, and the next whole one is not")
    func pieces() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        for cut in 1..<Self.head.utf8.count {
            let before = kept.passed
            kept.connection.receive(String(decoding: Self.head.utf8.prefix(cut), as: UTF8.self))
            kept.connection.receive(String(decoding: Self.head.utf8.dropFirst(cut), as: UTF8.self))
            #expect(kept.passed == before + 1)
            kept.application.respond("routed")
            #expect(try kept.connection.sent().hasSuffix("routed"))
            kept.connection.receive(Self.head)
            #expect(try kept.connection.sent().hasSuffix("body"))
            #expect(kept.passed == before + 1)
        }
    }

    @Test("Pipelined heads get their responses in order: nothing overtakes what the application works on")
    func pipelining() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "kept")
        kept.connection.receive(Self.head + Self.head + Self.other + Self.head)
        let before = try kept.connection.sent()
        #expect(before.components(separatedBy: "\r\n\r\nkept").count == 3)
        #expect(kept.application.heads.map(\.uri) == ["/kept", "/other"])
        kept.connection.receive(Self.head)
        #expect(
            try kept.connection.sent() == "",
            "while another request is under way, a cached response waits like every other"
        )
        kept.application.respond("other")
        kept.connection.channel.embeddedEventLoop.run()
        let after = try kept.connection.sent().components(separatedBy: "\r\n\r\n").dropFirst()
        #expect(after.map { $0.prefix(5) } == ["other", "keptH", "kept"])
        #expect(kept.application.heads.count == 2, "what waited behind the other request comes from the cache")
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("kept"), "at rest again")
    }

    @Test("Many pipelined cached responses all arrive")
    func many() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, String(repeating: "k", count: 5000))
        kept.connection.receive(String(repeating: Self.head, count: 100))
        kept.connection.channel.embeddedEventLoop.run()
        #expect(try kept.connection.sent().components(separatedBy: "HTTP/1.1 200 OK").count == 101)
        #expect(kept.passed == 1)
    }

    @Test("SRV-11 Kept bytes within a body, or within another head, are no request")
    func smuggling() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "kept")
        kept.connection.receive("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: \(Self.head.utf8.count)\r\n\r\n")
        kept.connection.receive(Self.head)
        #expect(kept.application.body == Self.head)
        #expect(try kept.connection.sent() == "")
        kept.application.respond("posted")
        _ = try kept.connection.sent()
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("kept"), "the body's end is known")

        kept.connection.receive("GET /y HTTP/1.1\r\nHost: a\r\nX: ")
        kept.connection.receive(Self.head)
        #expect(try !kept.connection.sent().contains("kept"))
    }

    private static let chunkedPost = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(
        "After a chunked body responses are cached again; what lies within it is no request",
        arguments: ["", "X-Trailer: 1\r\n"]
    )
    func chunked(trailers: String) throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "kept")
        kept.connection.receive(Self.chunkedPost)
        let inner = Self.head + "\r\n"
        kept.connection.receive(String(inner.utf8.count, radix: 16) + "\r\n" + inner + "\r\n")
        kept.connection.receive("0\r\n" + trailers)
        kept.connection.receive("\r\n")
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent() == "", "nothing overtakes the response to the body")
        kept.application.respond("posted")
        kept.connection.channel.embeddedEventLoop.run()
        #expect(try kept.connection.sent().hasSuffix("kept"))
        #expect(kept.application.heads.map(\.uri) == ["/kept", "/x"] && kept.passed == 2)
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("kept"))
    }

    @Test("SRV-11 A request in the same read as the end of a chunked body is passed on, and so is everything after it")
    func pipelinedBehindChunked() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "kept")
        kept.connection.receive(Self.chunkedPost)
        kept.connection.receive("0\r\n\r\n" + Self.head)
        kept.application.respond("posted")
        kept.application.respond("second")
        _ = try kept.connection.sent()
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent() == "")
        #expect(kept.application.heads.map(\.uri) == ["/kept", "/x", "/kept", "/kept"])
    }

    @Test("A request is passed on again after a bump of a counter or the deadline, and is recorded again")
    func changeToken() throws {
        let (kept, stamp) = (try CachingConnection(), VersionCounter())
        _ = try kept.record(Self.head, "one", ChangeToken(of: stamp))
        stamp.bump()
        _ = try kept.record(
            Self.head,
            "two",
            ChangeToken(of: stamp, until: kept.connection.channel.embeddedEventLoop.now + .seconds(2))
        )
        #expect(kept.passed == 2)
        kept.connection.advance(seconds: 1)
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("two"))
        kept.connection.advance(seconds: 1)
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent() == "")
        #expect(kept.passed == 3)
    }

    @Test("What changes while a response is under way keeps it from being cached")
    func changedMeanwhile() throws {
        let (kept, stamp) = (try CachingConnection(), VersionCounter())
        let changeToken = ChangeToken(of: stamp)
        kept.connection.receive(Self.head)
        stamp.bump()
        kept.respond("old", changeToken)
        _ = try kept.connection.sent()
        kept.connection.receive(Self.head)
        #expect(kept.passed == 2)
    }

    @Test("SRV-05 Age and ttl are those of the moment; everything else stays")
    func age() throws {
        let kept = try CachingConnection()
        let age = RunningAge(seconds: 3, timeToLive: 2, at: kept.connection.channel.embeddedEventLoop.now)
        let fields: HTTPHeaders = [
            "Age": "3", "Cache-Status": "larder; hit; ttl=2; detail=offline", "ETag": "\"e\"", "X-Request-Id": "run-9",
        ]
        _ = try kept.record(Self.head, "body", ChangeToken(age: age), fields: fields)
        kept.connection.advance(seconds: 6)
        kept.connection.receive(Self.head)
        let lines = Set(try kept.connection.sent().components(separatedBy: "\r\n"))
        let fixed: Set = ["HTTP/1.1 200 OK", "Content-Length: 4", "ETag: \"e\"", "", "body"]
        #expect(
            lines
                == fixed.union(["X-Request-Id: run-1", "Age: 9", "Cache-Status: larder; hit; ttl=-4; detail=offline"])
        )
    }

    @Test(
        "SRV-12 A hit has the identity of its own request: the client's if it is harmless, else a new one",
        arguments: [
            ("X-Request-Id: mine-2\r\n", "mine-2"), ("x-request-id:\t a.b:c_d \r\n", "a.b:c_d"), ("", "run-1"),
            ("X-Request-Id: a b\r\n", "run-1"), ("X-Request-Id: a\r\nX-Request-Id: a\r\n", "run-1"),
            ("X-Request-Id:\r\n", "run-1"), ("X-Request-Id: \(String(repeating: "x", count: 129))\r\n", "run-1"),
        ]
    )
    func identity(field: String, expected: String) throws {
        let kept = try CachingConnection()
        let recorded = CachingConnection.head("/kept", "X-Request-Id: first\r\n")
        _ = try kept.record(recorded, "body", fields: ["X-Request-Id": "first"])
        kept.connection.receive(CachingConnection.head("/kept", field))
        let lines = try kept.connection.sent().components(separatedBy: "\r\n")
        #expect(lines.filter { $0.hasPrefix("X-Request-Id") } == ["X-Request-Id: \(expected)"])
        #expect(kept.passed == 1 && kept.responses.size.entries == 1)
    }

    @Test("A response with an age that cannot be continued is not cached")
    func unknownAge() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body", fields: ["Age": "3"])
        #expect(kept.responses.size.entries == 0)
    }

    @Test("SRV-06 HEAD and 304 are kept under their own bytes, without a body")
    func bodiless() throws {
        let kept = try CachingConnection()
        let (headHead, conditional) = (
            CachingConnection.head("/kept", method: "HEAD"), CachingConnection.head("/kept", "If-None-Match: \"e\"\r\n")
        )
        kept.connection.receive(headHead)
        kept.annotate(.unlimited, method: .head)
        kept.application.begin(headers: ["Content-Length": "7"])
        kept.application.end()
        kept.connection.receive(conditional)
        kept.annotate(.unlimited, status: 304)
        kept.application.begin(status: .notModified, headers: ["ETag": "\"e\""])
        kept.application.end()
        let first = try kept.connection.sent()
        kept.connection.receive(headHead + conditional)
        #expect(try kept.connection.sent() == first)
        #expect(kept.passed == 2)
        #expect(first.contains("Content-Length: 7\r\n\r\nHTTP/1.1 304"))
    }

    @Test("Responses without a known length are not cached")
    func unsuitable() throws {
        let kept = try CachingConnection()
        kept.connection.receive(Self.head)
        kept.annotate(.unlimited)
        kept.application.begin(headers: ["Transfer-Encoding": "chunked"])
        kept.application.write("piece")
        kept.application.end()
        #expect(kept.responses.size.entries == 0)
    }

    @Test("SRV-11 Without annotations nothing is cached, whatever the fields of the response say")
    func forged() throws {
        let kept = try CachingConnection()
        kept.connection.receive(Self.head)
        kept.application.respond("body", headers: ["Content-Length": "4", "Larder-Rendering": "1"])
        #expect(try kept.connection.sent().hasSuffix("body"))
        #expect(kept.responses.size.entries == 0)
    }

    @Test("Annotations are those of one response: those of an earlier exchange do not apply")
    func leftBehind() throws {
        let kept = try CachingConnection()
        kept.annotate(.unlimited)
        kept.connection.receive(Self.head)
        kept.application.respond("first")
        kept.annotate(.unlimited)
        kept.connection.receive(Self.head)
        kept.application.respond("second")
        #expect(kept.passed == 2 && kept.responses.size.entries == 0)
    }

    @Test("RFC 9110 §6.6.1: the Date of another origin replaces the server's, and stays in every hit")
    func originDate() throws {
        let kept = try CachingConnection()
        let date = "Tue, 15 Nov 1994 08:12:31 GMT"
        kept.connection.receive(Self.head)
        kept.connection.annotations.update { $0.originDate = date }
        kept.respond("body", fields: ["Date": "Mon, 05 Jan 2026 10:00:00 GMT"])
        let first = try kept.connection.sent()
        kept.connection.receive(Self.head)
        let second = try kept.connection.sent()
        #expect(kept.passed == 1)
        for text in [first, second] { #expect(text.contains("Date: \(date)\r\n") && !text.contains("2026")) }
    }

    @Test("SRV-11 A client that takes nothing is given nothing ahead of the router")
    func backPressure() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        kept.connection.channel.isWritable = false
        kept.connection.channel.pipeline.fireChannelWritabilityChanged()
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent() == "")
        #expect(kept.passed == 1, "it is held as well")
        kept.connection.channel.isWritable = true
        kept.connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(kept.passed == 2)
        kept.application.respond("routed")
        #expect(try kept.connection.sent().hasSuffix("routed"))
    }

    @Test("TRUST-18 Each connection has its turn: a pipelining client gets some responses at a time, all from memory")
    func turns() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, String(repeating: "x", count: 30_000))
        kept.connection.receive(String(repeating: Self.head, count: 10))
        let first = try kept.connection.sent().components(separatedBy: "HTTP/1.1 200").count - 1
        #expect((1...4).contains(first))
        kept.connection.channel.embeddedEventLoop.run()
        let rest = try kept.connection.sent().components(separatedBy: "HTTP/1.1 200").count - 1
        #expect(first + rest == 10 && kept.passed == 1)
        // A request behind them is passed on as usual.
        kept.connection.receive(Self.other)
        #expect(kept.passed == 2)
    }

    @Test("TRUST-18 A request that waited for the turn of its client gets a response that is cached like every other")
    func waited() throws {
        let kept = try CachingConnection(clientUnits: 2)
        _ = try kept.record(Self.other, "other")
        kept.connection.receive(Self.head)
        #expect(kept.passed == 1, "its turn is over")
        kept.connection.channel.embeddedEventLoop.run()
        #expect(kept.passed == 2)
        kept.respond("kept")
        #expect(try kept.connection.sent().hasSuffix("kept"))
        kept.connection.receive(Self.head)
        kept.connection.channel.embeddedEventLoop.run()
        #expect(try kept.connection.sent().hasSuffix("kept"))
        #expect(kept.passed == 2)
    }

    @Test("TRUST-18 What a client pipelines and does not read waits ahead of the decoder; its end is seen behind it")
    func unread() throws {
        // A shard of the cache has to hold a response that is larger than a turn.
        let kept = try CachingConnection(budget: 8 << 20)
        _ = try kept.record(Self.head, String(repeating: "x", count: 70_000))
        try #require(kept.responses.size.entries == 1)
        kept.connection.receive(String(repeating: Self.head, count: 3))
        kept.connection.channel.isWritable = false
        kept.connection.channel.pipeline.fireChannelWritabilityChanged()
        kept.connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        kept.connection.channel.embeddedEventLoop.run()
        #expect(try kept.connection.sent().components(separatedBy: "HTTP/1.1 200").count == 2)
        kept.connection.channel.isWritable = true
        kept.connection.channel.pipeline.fireChannelWritabilityChanged()
        kept.connection.channel.embeddedEventLoop.run()
        #expect(try kept.connection.sent().components(separatedBy: "HTTP/1.1 200").count == 3)
        #expect(kept.passed == 1 && !kept.connection.channel.isActive)
    }

    @Test("SRV-11 A stopping server sends no cached response behind the one under way")
    func quiescing() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "kept")
        kept.connection.receive(Self.other)
        kept.connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        kept.connection.receive(Self.head)
        kept.application.respond("last")
        let text = try kept.connection.sent()
        #expect(text.contains("last") && text.lowercased().contains("connection: close") && !text.contains("kept"))
    }

    @Test("SRV-11 The idle time counts from the last cached response")
    func idle() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "kept")
        kept.connection.advance(seconds: 50)
        kept.connection.receive(Self.head)
        kept.connection.advance(seconds: 59)
        #expect(kept.connection.journal.cuts.isEmpty && kept.connection.channel.isActive)
        kept.connection.advance(seconds: 1)
        #expect(kept.connection.journal.cuts == [.idle])
    }

    @Test("SRV-11 A head that drips in behind cached responses has its deadline, and a huge one its limit")
    func limits() throws {
        let slow = try CachingConnection()
        _ = try slow.record(Self.head, "kept")
        slow.connection.receive(Self.head + "GET /slow")
        slow.connection.advance(seconds: 9)
        slow.connection.receive(" ")
        slow.connection.advance(seconds: 1)
        #expect(slow.connection.journal.refusals.map(\.status) == [408])

        let huge = try CachingConnection(responses: slow.responses)
        huge.connection.receive(Self.head + "GET /" + String(repeating: "x", count: 40_000))
        #expect(try huge.connection.sent().contains("kept"))
        #expect(huge.connection.journal.refusals.map(\.status) == [431])
    }
}
