import NIOCore
import Testing

@testable import Server

@Suite("The head of a cached response") struct CachedBytesHeadTests {
    private static func head(_ fields: String..., keepsDate: Bool = false) -> CachedBytesHead? {
        CachedBytesHead(
            ByteBuffer(string: "HTTP/1.1 200 OK\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"),
            keepsDate: keepsDate
        )
    }

    @Test("Larder's own Date is written each time, an origin's stays")
    func date() throws {
        let date = "date: Tue, 15 Nov 1994 08:12:31 GMT"
        let own = try #require(Self.head(date, "content-length: 0"))
        #expect(own.date == "date" && !String(decoding: own.fixed, as: UTF8.self).contains("1994"))
        let origins = try #require(Self.head(date, "content-length: 0", keepsDate: true))
        #expect(origins.date == nil && String(decoding: origins.fixed, as: UTF8.self).contains("\(date)\r\n"))
    }

    @Test("Age and ttl are taken out to be written each time; members of other caches stay")
    func age() throws {
        let head = try #require(
            Self.head("Age: 7", "Cache-Status: other; hit", "Cache-Status: larder; hit; ttl=-53; detail=offline")
        )
        #expect(
            head.age == "Age" && head.timeToLive?.before == "Cache-Status: larder; hit; ttl="
                && head.timeToLive?.after == "; detail=offline\r\n"
        )
        #expect(String(decoding: head.fixed, as: UTF8.self) == "HTTP/1.1 200 OK\r\nCache-Status: other; hit\r\n")
    }

    @Test(
        "If two members have a ttl it is unknown which is Larder's, and nothing is cached",
        arguments: [true, false]
    )
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
        let head = try #require(CachedBytesHead(ByteBuffer(string: text)))
        let fields = CachedFields(head.pieces)
        #expect(fields.status == "200")
        let found = Dictionary(uniqueKeysWithValues: fields.fields.map { ($0.name, "\($0.value)") })
        #expect(found["content-type"] == #"fixed("text/plain; a=\"b:c\"")"#)
        #expect(found["content-length"] == #"fixed("0")"#)
        #expect(found["date"] == "date" && found["age"] == "age" && found["x-request-id"] == "requestID")
        #expect(found["cache-status"] == #"timeToLive(before: "Larder; hit; ttl=", after: "; key")"#)
        #expect(found.count == 6)
    }
}
