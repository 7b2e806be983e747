import NIOHTTP1
import Synchronization
import Testing

@testable import Server

/// A refusal is in the client's language if the head of its request has arrived.
@Suite struct RefusalResponseTests {
    private static let head = "POST / HTTP/1.1\r\nHost: a\r\nAccept-Language: ru\r\nAccept-Language: en\r\n"

    private func language(_ sent: String, waiting seconds: Int64 = 0) throws -> Substring? {
        let connection = try EmbeddedConnection()
        connection.receive(sent)
        connection.advance(seconds: seconds)
        let lines = try connection.sent().split(separator: "\r\n")
        #expect(lines.contains("Vary: Accept-Language") && lines.contains("Connection: close"))
        return lines.first { $0.hasPrefix("Content-Language: ") }?.dropFirst("Content-Language: ".count)
    }

    @Test("HARN-30 Refusals of a head, and of a body that does not arrive, are in the language of the head")
    func known() throws {
        #expect(try language("\(Self.head)Content-Length: 9\r\n\r\nabc", waiting: 60) == "of+ru+en")
        #expect(try language("\(Self.head)Host: b\r\n\r\n") == "of+ru+en")
        let long = Self.head.replacing("/ ", with: "/\(String(repeating: "a", count: 9000)) ", maxReplacements: 1)
        #expect(try language("\(long)\r\n") == "of+ru+en")
    }

    @Test("TRUST-18 The content of a refusal is made once if nothing is known of the request, else for each")
    func rendered() {
        let count = Mutex(0)
        let contents = RefusalContents { refusal, head in
            count.withLock { $0 += 1 }
            return refusal.testContent(head)
        }
        let (malformed, tooLarge) = (ConnectionRefusal.malformed("bad"), ConnectionRefusal.headersTooLarge("large"))
        for refusal in [malformed, tooLarge, malformed, tooLarge] {
            #expect(contents.content(of: refusal, nil).body == refusal.testContent(nil).body)
        }
        #expect(count.withLock { $0 } == 2)
        let head = RefusedHead(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))
        for _ in 0..<3 { #expect(contents.content(of: malformed, head).language == "of") }
        #expect(count.withLock { $0 } == 5)
    }

    @Test("A head that has not arrived, or is none, selects no language; neither does the request before it")
    func unknown() throws {
        #expect(try language(Self.head, waiting: 60) == "unknown")
        #expect(try language("\(Self.head)\u{1}: x\r\n\r\n") == "unknown")
        let connection = try EmbeddedConnection()
        connection.receive("GET / HTTP/1.1\r\nHost: a\r\nAccept-Language: ru\r\n\r\n")
        connection.application.respond("one")
        _ = try connection.sent()
        connection.receive("\u{1}\r\n\r\n")
        #expect(try connection.sent().contains("Content-Language: unknown\r\n"))
    }
}
