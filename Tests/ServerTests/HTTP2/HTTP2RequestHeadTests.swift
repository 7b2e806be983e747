import Concurrency
import HTTPTypes
import NIOCore
import NIOHPACK
import TestKit
import Testing

@testable import Server

@Suite("What a connection knows of its last requests")
struct HTTP2RepeatedRequestsTests {
    private static let start = NIODeadline.uptimeNanoseconds(0) + .seconds(5)

    /// A place in a cache.
    private static func location() throws -> ResponseCache.Location {
        let cache = ResponseCache(budgetBytes: 1 << 20, run: "run", logger: .quiet)
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        let record = RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        let bytes = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        cache.record(bytes, ResponseCache.Ticket(changeToken: .unlimited, record: record), for: head(), now: start)
        return try #require(cache.find(head(), now: start)).location
    }

    private static func head(_ field: String = "") -> ByteBuffer {
        ByteBuffer(string: "GET /a HTTP/1.1\r\nhost: a\r\n\(field)\r\n")
    }

    private let requests = HTTP2RepeatedRequests()

    private func note(_ block: [UInt8], _ field: String = "", now: NIODeadline = start) throws {
        requests.offer((stream: 1, block: ByteBuffer(bytes: block)))
        requests.note(Self.head(field), on: 1, at: try Self.location(), now: now)
        requests.offer(nil)
    }

    private func isKnown(_ block: [UInt8], at now: NIODeadline = start) -> Bool {
        block.withUnsafeBytes { requests.location(of: $0, now: now) } != nil
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
        requests.note(Self.head(), on: 1, at: try Self.location(), now: Self.start)
        requests.offer((stream: 3, block: ByteBuffer(bytes: [1])))
        requests.note(Self.head(), on: 1, at: try Self.location(), now: Self.start)
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

@Suite("Header blocks that leave the table of their decoder")
struct HeaderBlockTests {
    private static func leavesTable(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(HeaderBlock.leavesTable) }

    @Test(
        "A block of indexed fields and of literals that are not added leaves the table",
        arguments: [
            ([], true), ([0x82, 0x84, 0xBE], true), ([0xFF, 0x00], true), ([0xFF, 0x80, 0x80, 0x01], true),
            ([0x04, 0x01, 0x2F], true), ([0x14, 0x81, 0x63], true), ([0x00, 0x01, 0x61, 0x01, 0x62], true),
            ([0x0F, 0x12, 0x00], true),
            // Added to the table; another size of the table.
            ([0x82, 0x44, 0x01, 0x2F], false), ([0x40, 0x01, 0x61, 0x01, 0x62], false), ([0x20, 0x82], false),
            ([0x3F, 0xE1, 0x1F], false),
            // No index; not whole; larger than any block.
            ([0x80], false), ([0xFF], false), ([0x04], false), ([0x04, 0x02, 0x2F], false),
            ([0x00, 0x01, 0x61], false),
            ([0x04, 0x7F, 0x80], false), ([0xFF, 0xFF, 0xFF, 0xFF, 0x01], false),
        ] as [([UInt8], Bool)]
    )
    func examples(_ bytes: [UInt8], _ leavesTable: Bool) {
        #expect(Self.leavesTable(bytes) == leavesTable)
    }

    /// The entries of a dynamic table, by the fields that their indexes stand for.
    private static func table(of decoder: HPACKDecoder) -> [String] {
        var entries: [String] = []
        for index in 62... {
            let bytes: [UInt8] =
                index < 127
                ? [0x80 | UInt8(index)] : [0xFF, UInt8((index - 127) % 128) | 0x80, UInt8((index - 127) / 128)]
            var (decoder, block) = (decoder, ByteBuffer(bytes: bytes))
            guard let field = (try? decoder.decodeHeaders(from: &block))?.first(where: { _ in true }) else { break }
            entries.append("\(field.name): \(field.value)")
        }
        return entries
    }

    @Test(
        "What leaves the table by the walk does so in NIO's decoder, and gives the same fields again",
        arguments: 1...8
    )
    func property(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        var counts = [true: 0, false: 0]
        for _ in 1...150 {
            var fields = HPACKHeaders()
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let indexing = [HPACKIndexing.indexable, .nonIndexable, .neverIndexed].randomElement(using: &random)
                let name = [":path", "accept", "cookie", "x-a", "x-b"].randomElement(using: &random) ?? ""
                let length = Int.random(in: 0...3, using: &random) * 50
                let value = String(repeating: "v", count: length) + "\(Int.random(in: 0...2, using: &random))"
                fields.add(name: name, value: value, indexing: indexing ?? .indexable)
            }
            if Int.random(in: 0...20, using: &random) == 0 {
                try encoder.setDynamicTableSize(Int.random(in: 5...40, using: &random) * 100)
            }
            var block = ByteBuffer()
            try encoder.encode(headers: fields, to: &block)
            let (bytes, before) = (Array(buffer: block), Self.table(of: decoder))
            let decoded = try decoder.decodeHeaders(from: &block)
            let isSame = Self.table(of: decoder) == before
            let leavesTable = Self.leavesTable(bytes)
            counts[leavesTable, default: 0] += 1
            #expect(!leavesTable || isSame, "\(bytes)")
            var again = ByteBuffer(bytes: bytes)
            if leavesTable { #expect(try decoder.decodeHeaders(from: &again) == decoded) }
        }
        #expect(counts.values.allSatisfy { $0 > 10 }, "\(counts)")
    }

    @Test("Bytes at random that NIO decodes and that leave the table by the walk leave it", arguments: 1...4)
    func noise(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 1...3000 {
            let count = Int.random(in: 1...12, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            guard Self.leavesTable(bytes) else { continue }
            var (decoder, block) = (HPACKDecoder(allocator: ByteBufferAllocator()), ByteBuffer(bytes: bytes))
            if (try? decoder.decodeHeaders(from: &block)) != nil { #expect(Self.table(of: decoder).isEmpty) }
        }
    }
}
