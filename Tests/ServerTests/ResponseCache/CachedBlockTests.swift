import Concurrency
import HTTPTypes
import NIOCore
import NIOHPACK
import Testing

@testable import Server

@Suite("Header blocks of cached responses")
struct CachedBlockTests {
    private static func written(_ response: CachedBytes, _ identity: RequestIdentity) -> ByteBuffer {
        var buffer = ByteBuffer()
        response.writeFrames(response.block, to: &buffer, stream: 5, date: date(), requestID: identity, now: now)
        return buffer
    }

    private static func response(_ lines: [String], body: String = "") throws -> CachedBytes {
        let text = (["HTTP/1.1 200 OK", "Content-Length: \(body.utf8.count)"] + lines + ["", ""])
            .joined(separator: "\r\n")
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        let record = RequestRecord(method: .get, path: "/", status: 200, measurements: RequestMeasurements(labels))
        let ticket = ResponseCache.Ticket(changeToken: .unlimited, record: record)
        return try #require(CachedBytes(ByteBuffer(string: text + body), ticket))
    }

    /// The frames of a response, by their heads, with the header block and the body.
    private static func frames(_ bytes: ByteBuffer) -> (heads: [String], block: ByteBuffer, body: String) {
        var (bytes, heads, block, body) = (bytes, [String](), ByteBuffer(), "")
        while let head = bytes.readSlice(length: HTTP2FrameHead.size)?.withUnsafeReadableBytes({ HTTP2FrameHead($0) }),
            let payload = bytes.readSlice(length: head.length)
        {
            heads.append("\(head.kind.map { "\($0)" } ?? "?") \(head.length) \(head.flags) \(head.stream)")
            if head.kind == .headers { block = payload } else { body += String(buffer: payload) }
        }
        return (heads, block, body)
    }

    private static let now = NIODeadline.uptimeNanoseconds(7)

    private static func date() -> ServerDate {
        var date = ServerDate()
        date.update(now: now)
        return date
    }

    @Test(
        "A decoder reads the fields that NIO would send, and its table stays empty",
        arguments: [0, 1, 16_384, 40_000]
    )
    func same(_ count: Int) throws {
        let body = String(repeating: "b", count: count)
        let lines = [
            "Content-Type: application/json", "Date: Mon", "X-Request-Id: one", "Vary: Accept-Encoding, Cookie",
            "ETag: \"\(String(repeating: "é", count: 200))\"", "Content-Language: de",
        ]
        let response = try Self.response(lines, body: body)
        let identity = RequestIdentity.assigned(RequestIdentities(run: "run").next())
        let buffer = Self.written(response, identity)
        #expect(buffer.readableBytes <= response.framesSize(response.block))
        let (heads, block, text) = Self.frames(buffer)
        var data = stride(from: 0, to: count, by: 16_384).map { "data \(min(16_384, count - $0)) 0 5" }
        if let last = data.popLast() { data.append(last.replacing(" 0 5", with: " 1 5")) }
        #expect(heads == ["headers \(block.readableBytes) \(count == 0 ? 5 : 4) 5"] + data && text == body)
        #expect(block.withUnsafeReadableBytes(HeaderBlock.leavesTable))
        var (decoder, rest) = (HPACKDecoder(allocator: ByteBufferAllocator()), block)
        let fields = try decoder.decodeHeaders(from: &rest)
        let expected = response.block(date: Self.date(), requestID: identity, now: Self.now)
        #expect(fields.map { "\($0.name): \($0.value)" } == expected.map { "\($0.name): \($0.value)" })
        #expect(fields.first(name: ":status") == "200")
        #expect(fields.first(name: "x-request-id") == "run-1" && fields.first(name: "date") == Self.date().text)
    }

    @Test("Values of any length are strings of HPACK", arguments: [0, 1, 126, 127, 128, 254, 255, 256, 3000, 14_000])
    func strings(_ count: Int) throws {
        var memory = [UInt8](repeating: 0, count: count + 16)
        let text = String(repeating: "t", count: count)
        let used = memory.withUnsafeMutableBytes { bytes in
            var writer = ByteWriter(bytes)
            writer.writeString { $0.write(text) }
            return writer.count
        }
        // A field without a name in the table.
        var block = ByteBuffer(bytes: [0x00, 0x01, 0x78] + memory.prefix(used))
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        #expect(try decoder.decodeHeaders(from: &block).first(name: "x") == text)
    }

    @Test("What HTTP/2 does not allow, and blocks beyond one frame, are not sent")
    func refused() throws {
        for line in ["Keep-Alive: timeout=5", "Upgrade: h2c", "X-Long: \(String(repeating: "\\", count: 16_384))"] {
            #expect(try Self.response([line]).block.isComplete == false)
        }
        #expect(try Self.response(["X: 1"]).block.isComplete)
    }

    @Test("Docs: what the block of a screen takes in bytes, beside one that refers to an earlier one")
    func sizes() throws {
        let lines = [
            "Content-Type: application/json; charset=utf-8", "Cache-Control: private, no-cache",
            "ETag: \"5f2b8c1d9e3a4f60718293a4b5c6d7e8\"", "Content-Language: en",
            "Vary: Authorization, Cookie, Accept-Language, Accept-Encoding, Larder-Device",
            "X-Content-Type-Options: nosniff", "Content-Security-Policy: sandbox", "Date: Mon", "X-Request-Id: one",
        ]
        let response = try Self.response(lines)
        let identity = RequestIdentity.assigned(RequestIdentities(run: "1a2b3c4d").next())
        let buffer = Self.written(response, identity)
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var blocks: [Int] = []
        for _ in 1...2 {
            var block = ByteBuffer()
            let fields = response.block(date: Self.date(), requestID: identity, now: Self.now)
            try encoder.encode(headers: fields, to: &block)
            blocks.append(block.readableBytes)
        }
        let own = Self.frames(buffer).block.readableBytes
        // As decision 139 says.
        #expect((140...165).contains(own - blocks[1]), "\(own) and \(blocks)")
    }
}

@Suite("The head of a cached response") struct CachedHeadTests {
    private static func head(_ fields: String..., keepsDate: Bool = false) -> CachedHead? {
        CachedHead(
            ByteBuffer(string: "HTTP/1.1 200 OK\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"),
            keepsDate: keepsDate
        )
    }

    /// The lines that stay the same.
    private static func constant(_ head: CachedHead) -> [String] {
        head.fields.filter { $0.changing == nil }.map { "\($0.name):\($0.before)" }
    }

    @Test("Larder's own Date is written each time, an origin's stays")
    func date() throws {
        let date = "date: Tue, 15 Nov 1994 08:12:31 GMT"
        let own = try #require(Self.head(date, "content-length: 0"))
        #expect(own.has(.date) && Self.constant(own) == ["content-length: 0"])
        let origins = try #require(Self.head(date, "content-length: 0", keepsDate: true))
        #expect(!origins.has(.date) && Self.constant(origins) == [date, "content-length: 0"])
    }

    @Test("Age and ttl are taken out to be written each time; members of other caches stay")
    func age() throws {
        let head = try #require(
            Self.head("Age: 7", "Cache-Status: other; hit", "Cache-Status: larder; hit; ttl=-53; detail=offline")
        )
        #expect(head.has(.age) && Self.constant(head) == ["Cache-Status: other; hit"])
        let last = try #require(head.fields.last { $0.changing == .timeToLive })
        #expect(last.name == "Cache-Status" && last.before == " larder; hit; ttl=" && last.after == "; detail=offline")
        // The bytes that are written in one piece: constant fields are first.
        guard case .bytes(let start)? = head.pieces.first else {
            Issue.record("no constant bytes")
            return
        }
        #expect(String(decoding: start, as: UTF8.self) == "HTTP/1.1 200 OK\r\nCache-Status: other; hit\r\nAge: ")
    }

    @Test("If two members have a ttl it is unknown which is Larder's, and nothing is cached", arguments: [true, false])
    func twoAccounts(inOneLine: Bool) {
        let (other, own) = ("Cache-Status: other; hit; ttl=5", "larder; hit; ttl=7")
        #expect((inOneLine ? Self.head("\(other), \(own)") : Self.head(other, "Cache-Status: \(own)")) == nil)
    }

    @Test(
        "What cannot be given again is not kept",
        arguments: ["Transfer-Encoding: chunked", "Connection: keep-alive", "no colon"]
    )
    func refused(field: String) {
        #expect(Self.head(field) == nil)
    }
}

@Suite("Heads of cached responses as fields")
struct CachedFieldsTests {
    @Test("A head is divided into the fields that stay and those that are written each time")
    func divided() throws {
        let text = [
            "HTTP/1.1 200 OK", "Content-Type: text/plain; a=\"b:c\"", "Date: Mon", "Age: 3",
            "Cache-Status: Larder; hit; ttl=5; key", "X-Request-Id: one", "Content-Length: 0", "", "",
        ].joined(separator: "\r\n")
        let head = try #require(CachedHead(ByteBuffer(string: text)))
        let found = Dictionary(
            uniqueKeysWithValues: head.lowercaseFields.map { field in
                (field.name, field.before + (field.changing.map { "(\($0))" } ?? "") + field.after)
            }
        )
        #expect(
            found == [
                "content-type": #"text/plain; a="b:c""#, "content-length": "0", "date": "(date)", "age": "(age)",
                "x-request-id": "(requestID)", "cache-status": "Larder; hit; ttl=(timeToLive); key",
            ]
        )
    }
}
