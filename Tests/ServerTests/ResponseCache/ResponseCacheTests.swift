import Concurrency
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import TestKit
import Testing

@testable import Server

@Suite("The response cache") struct ResponseCacheTests {
    private static let now = NIODeadline.uptimeNanoseconds(1)

    private static func store(budget: Int, entries: Int = 65_536) -> ResponseCache {
        ResponseCache(budgetBytes: budget, entries: entries, run: "run", logger: .quiet)
    }

    private static let ticket: ResponseCache.Ticket = {
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        return ResponseCache.Ticket(
            changeToken: .unlimited,
            record: RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        )
    }()

    private static func key(_ number: Int) -> ByteBuffer {
        ByteBuffer(string: "GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    private static func bytes(_ count: Int) -> ByteBuffer {
        ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n" + String(repeating: "x", count: count))
    }

    @Test("SRV-11 Ten thousand different heads leave it within its budget")
    func budget() {
        let responses = Self.store(budget: 1 << 20)
        for number in 0..<10_000 {
            responses.record(Self.bytes(4000), Self.ticket, for: Self.key(number), now: Self.now)
        }
        #expect(responses.size.bytes <= 1 << 20)
        #expect(responses.size.entries > 100)
    }

    @Test("SRV-11 The number of responses is bounded as well")
    func entries() {
        let responses = Self.store(budget: 64 << 20, entries: 800)
        for number in 0..<10_000 {
            responses.record(Self.bytes(1), Self.ticket, for: Self.key(number), now: Self.now)
        }
        #expect(responses.size.entries <= 800)
    }

    @Test("Used entries stay while unused ones are evicted")
    func leastRecentlyUsed() {
        let responses = Self.store(budget: 1 << 20)
        responses.record(Self.bytes(4000), Self.ticket, for: Self.key(-1), now: Self.now)
        for number in 0..<3000 {
            #expect(responses.response(to: Self.key(-1), now: Self.now) != nil)
            responses.record(Self.bytes(4000), Self.ticket, for: Self.key(number), now: Self.now)
        }
        #expect(responses.response(to: Self.key(0), now: Self.now) == nil)
        #expect(responses.response(to: Self.key(2999), now: Self.now) != nil)
    }

    @Test("SRV-05 Nothing survives a sleep of the machine, during which the clock of the event loops is stopped")
    func sleep() {
        let slept = NIOLockedValueBox<Int64>(7)
        let sleep = SleepWatch(slept: { slept.withLockedValue(\.self) })
        let responses = ResponseCache(budgetBytes: 1 << 20, run: "run", sleep: sleep, logger: .quiet)
        for number in 0..<20 { responses.record(Self.bytes(10), Self.ticket, for: Self.key(number), now: Self.now) }
        slept.withLockedValue { $0 += 400 }
        #expect(responses.response(to: Self.key(1), now: Self.now) != nil)
        slept.withLockedValue { $0 += 3_600_000 }
        #expect(
            (0..<20).allSatisfy { responses.response(to: Self.key($0), now: Self.now) == nil }
                && responses.size == (0, 0)
        )
        responses.record(Self.bytes(10), Self.ticket, for: Self.key(1), now: Self.now)
        #expect(responses.response(to: Self.key(1), now: Self.now) != nil)
    }

    @Test("One response that is larger than the budget is not cached")
    func tooLarge() {
        let responses = Self.store(budget: 64 << 10)
        responses.record(Self.bytes(60_000), Self.ticket, for: Self.key(1), now: Self.now)
        #expect(responses.size.bytes <= 64 << 10)
        #expect(responses.response(to: Self.key(1), now: Self.now) == nil)
    }

    @Test("An expired entry frees its bytes when it is requested")
    func forgotten() {
        let (responses, stamp) = (Self.store(budget: 1 << 20), VersionCounter())
        responses.record(
            Self.bytes(4000),
            ResponseCache.Ticket(changeToken: ChangeToken(of: stamp), record: Self.ticket.record),
            for: Self.key(1),
            now: Self.now
        )
        stamp.bump()
        #expect(responses.response(to: Self.key(1), now: Self.now) == nil)
        #expect(responses.size.bytes < 1000)
    }

    @Test("A body that is shorter than its head says is not kept")
    func truncated() {
        let responses = Self.store(budget: 1 << 20)
        responses.record(
            ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"),
            Self.ticket,
            for: Self.key(1),
            now: Self.now
        )
        #expect(responses.size.entries == 0)
    }
}

@Suite("Heads of requests as keys") struct ResponseCacheKeyTests {
    private func length(_ text: String) -> Int? {
        ByteBuffer(string: text).withUnsafeReadableBytes(ResponseCacheKey.headLength)
    }

    private func head(_ method: HTTPMethod = .GET, version: HTTPVersion = .http1_1, _ headers: HTTPHeaders = [:])
        -> HTTPRequestHead
    {
        HTTPRequestHead(version: version, method: method, uri: "/", headers: headers)
    }

    @Test("A head ends with its first empty line, wherever that is", arguments: 0..<9)
    func ends(padding: Int) {
        let text = "GET /\(String(repeating: "x", count: padding)) HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(length(text) == text.utf8.count)
        #expect(length(text + "\r\n\r\nGET / HTTP/1.1\r\n\r\n") == text.utf8.count)
        for cut in 1...text.utf8.count { #expect(length(String(text.dropLast(cut))) == nil) }
    }

    @Test("Odd line ends do not end a head early", arguments: ["\n\n", "\r\r\n", "\r\n\n", "\n\r\n", "\r\n\r\r\n"])
    func oddEnds(end: String) {
        #expect(length("GET / HTTP/1.1\r\nHost: a\(end)") == nil)
    }

    @Test("Other methods, and heads beyond the limit, are not looked at")
    func others() {
        #expect(length("POST / HTTP/1.1\r\nHost: a\r\n\r\n") == nil)
        #expect(length("GET /\(String(repeating: "x", count: ResponseCacheKey.longest)) HTTP/1.1\r\n\r\n") == nil)
    }

    @Test("A GET or HEAD without anything beside its head is eligible")
    func eligible() {
        let bytes = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(ResponseCacheKey.isEligible(head(), bytes: bytes))
        #expect(
            ResponseCacheKey.isEligible(
                head(.HEAD, ["Authorization": "Bearer t", "Connection": "Keep-Alive"]),
                bytes: bytes
            )
        )
        #expect(!ResponseCacheKey.isEligible(head(.POST), bytes: bytes))
        #expect(!ResponseCacheKey.isEligible(head(version: .http1_0), bytes: bytes))
    }

    @Test(
        "A head with a body, a hop or an end of the connection is not",
        arguments: [
            "Content-Length", "transfer-encoding", "Expect", "Upgrade", "Connection", "TE", "Trailer",
        ]
    )
    func ineligible(name: String) {
        #expect(
            !ResponseCacheKey.isEligible(head(.GET, [name: "0"]), bytes: ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        )
    }

    @Test("SRV-11 Bytes that another reader could divide otherwise are not", arguments: ["\n", "\r", "\n\r"])
    func ambiguous(mark: String) {
        #expect(
            !ResponseCacheKey.isEligible(head(), bytes: ByteBuffer(string: "GET / HTTP/1.1\r\nA: b\(mark)c\r\n\r\n"))
        )
    }
}

/// A connection with a response cache, and an application that annotates its responses.
struct CachingConnection {
    let responses: ResponseCache
    let connection: EmbeddedConnection

    init(
        _ limits: ConnectionLimits = .standard,
        budget: Int = 1 << 20,
        responses: ResponseCache? = nil,
        clientUnits: Int = EmbeddedConnection.manyUnits
    ) throws {
        let logger = Logger.quiet
        self.responses = responses ?? ResponseCache(budgetBytes: budget, run: "run", logger: logger)
        connection = try EmbeddedConnection(limits, responseCache: self.responses, clientUnits: clientUnits)
    }

    var application: RecordingApplication { connection.application }
    var passed: Int { application.heads.count }

    static func head(_ path: String, _ fields: String = "", method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// Annotates the response under way as one that may be cached.
    func annotate(_ changeToken: ChangeToken, status: Int = 200, method: HTTPRequest.Method = .get) {
        let labels = RequestLabels(method: method, route: "/", status: status)
        let record = RequestRecord(method: method, path: "/", status: status, measurements: RequestMeasurements(labels))
        connection.annotations.update {
            $0.changeToken = changeToken
            $0.record = record
        }
    }

    /// Has the application respond to the request under way with a response that may be cached.
    func respond(_ text: String, _ changeToken: ChangeToken = .unlimited, fields: HTTPHeaders = [:]) {
        var headers: HTTPHeaders = ["Content-Length": "\(text.utf8.count)"]
        headers.add(contentsOf: fields)
        annotate(changeToken)
        application.respond(text, headers: headers)
    }

    /// Sends a head and has the application respond; returns the bytes of the response as text.
    func record(_ head: String, _ text: String, _ changeToken: ChangeToken = .unlimited, fields: HTTPHeaders = [:])
        throws
        -> String
    {
        connection.receive(head)
        respond(text, changeToken, fields: fields)
        return try connection.sent()
    }
}
