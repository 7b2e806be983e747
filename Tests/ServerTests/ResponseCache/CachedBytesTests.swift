import NIOCore
import Testing

@testable import Server

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
