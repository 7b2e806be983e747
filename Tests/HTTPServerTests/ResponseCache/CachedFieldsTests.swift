import NIOCore
import Testing

@testable import HTTPServer

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
