import Freshness
import HTTPTypes
import NIOCore
import TestKit
import Testing

@testable import HTTPServer

@Suite("What a connection knows of its last requests")
struct HTTP2RepeatedRequestsTests {
    private static let start = NIODeadline.uptimeNanoseconds(0) + .seconds(5)

    /// A place in a cache.
    private static func place() throws -> ResponseCache.Place {
        let cache = ResponseCache(budgetBytes: 1 << 20, run: "run", logger: .quiet)
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        let record = RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        let bytes = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        cache.record(bytes, ResponseCache.Ticket(changeToken: .unlimited, record: record), for: head(), now: start)
        return try #require(cache.find(head(), now: start)).place
    }

    private static func head(_ field: String = "") -> ByteBuffer {
        ByteBuffer(string: "GET /a HTTP/1.1\r\nhost: a\r\n\(field)\r\n")
    }

    private let requests = HTTP2RepeatedRequests()

    private func note(_ block: [UInt8], _ field: String = "", now: NIODeadline = start) throws {
        requests.offer((stream: 1, block: ByteBuffer(bytes: block)))
        requests.note(Self.head(field), on: 1, at: try Self.place(), now: now)
        requests.offer(nil)
    }

    private func isKnown(_ block: [UInt8], at now: NIODeadline = start) -> Bool {
        block.withUnsafeBytes { requests.place(of: $0, now: now) } != nil
    }

    @Test("A block is known by its bytes, until the table changes")
    func known() throws {
        try note([1, 2])
        #expect(isKnown([1, 2]) && !isKnown([1]) && !isKnown([1, 3]) && !isKnown([]))
        requests.forget()
        #expect(!isKnown([1, 2]))
    }

    @Test("Only the request that NIO is decoding is noted, and none that differs each time or is long")
    func candidates() throws {
        requests.note(Self.head(), on: 1, at: try Self.place(), now: Self.start)
        requests.offer((stream: 3, block: ByteBuffer(bytes: [1])))
        requests.note(Self.head(), on: 1, at: try Self.place(), now: Self.start)
        #expect(!isKnown([1]))
        try note([1], "x-request-id: mine\r\n")
        try note([1], "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n")
        #expect(!isKnown([1]))
        let long = Array(repeating: UInt8(1), count: HTTP2RepeatedRequests.longest + 1)
        try note(long)
        try note(Array(long.dropLast()))
        #expect(!isKnown(long) && isKnown(Array(long.dropLast())))
    }

    @Test("A block is known for a second after each request")
    func time() throws {
        try note([1])
        let times = [1000, 2000, 3001, 3002].map { Self.start + .milliseconds($0) }
        #expect(times.map { isKnown([1], at: $0) } == [true, true, false, false])
        try note([1], now: times[3])
        #expect(isKnown([1], at: times[3]))
    }

    @Test("Of many, those that were requested last are known")
    func bounded() throws {
        for number in 0...UInt8(HTTP2RepeatedRequests.most) {
            try note([number], now: Self.start + .milliseconds(Int64(number)))
        }
        #expect(!isKnown([0]))
        #expect((1...UInt8(HTTP2RepeatedRequests.most)).allSatisfy { isKnown([$0]) })
    }
}
