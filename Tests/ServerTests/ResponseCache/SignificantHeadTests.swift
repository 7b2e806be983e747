import Concurrency
import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestKit
import Testing

@testable import Server

@Suite("Fields that no response depends on") struct SignificantHeadTests {
    private static func head(_ fields: String) -> String { CachingConnection.head("/kept", fields) }

    private static func significant(_ text: String) -> String? {
        SignificantHead(ByteBuffer(string: text)).map { String(buffer: $0.bytes) }
    }

    @Test("They are left out wherever they are, in any case and number; everything else stays byte for byte")
    func leftOut() {
        let plain = Self.head("Authorization: Bearer t\r\nAccept:  */*\r\n")
        #expect(Self.significant(plain) == nil)
        for name in SignificantHead.insignificant {
            for spelled in [name, name.uppercased(), name.capitalized] {
                let field = "\(spelled): a, \"b\"\t;c=d\r\n"
                #expect(Self.significant(Self.head(field + "Authorization: Bearer t\r\nAccept:  */*\r\n")) == plain)
                #expect(Self.significant(Self.head("Authorization: Bearer t\r\n\(field)Accept:  */*\r\n")) == plain)
                let many = "Authorization: Bearer t\r\n\(field)Accept:  */*\r\n\(field)\(spelled):\r\n"
                #expect(Self.significant(Self.head(many)) == plain)
            }
        }
    }

    @Test(
        "What means something stays",
        arguments: [
            "Authorization", "Larder-Profile", "Cookie", "Origin", "Sec-Fetch-Site", "Accept", "Accept-Encoding",
            "Cache-Control", "Pragma", "If-None-Match", "If-Modified-Since", "Range", "If-Range", "X-Request-I",
            "Request-Id",
            "Connection", "Content-Length", "Transfer-Encoding", "X-Forwarded-Fo", "X-Forwarded-For-", "Vi", "Viaa",
        ]
    )
    func stays(name: String) {
        #expect(Self.significant(Self.head("\(name): a\r\n")) == nil)
    }

    @Test(
        "SRV-11 A head that another reader could divide otherwise is taken as it is",
        arguments: [
            "Via: a\r\n b\r\n", "Via: a\r\n\tb\r\n", "Accept: a\r\n b\r\nVia: a\r\n", "Via: a\rb\r\n",
            "Via: a\nb: c\r\n",
            "Via: a\u{0}\r\n", "Via: \u{7F}\r\n", "Via: ä\r\n", "Via : a\r\n", " Via: a\r\n", "Via a\r\n",
            "Via: a\r\n" + String(repeating: "X: y\r\n", count: 100),
        ]
    )
    func ambiguous(fields: String) {
        #expect(Self.significant(Self.head(fields)) == nil)
    }

    @Test("SCALE-13 Ten thousand values of X-Forwarded-For leave one response, which each of them gets")
    func manyClients() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head("X-Forwarded-For: 192.0.2.1\r\n"), "body")
        for number in 0..<10_000 {
            let address = "198.51.\(number / 256).\(number % 256)"
            let fields = [
                "X-Forwarded-For: \(address)\r\n", "Forwarded: for=\(address)\r\nVia: 1.1 \(number)\r\n",
                "User-Agent: \(number)\r\ntraceparent: 00-\(number)\r\nX-Real-IP: \(address)\r\n",
            ]
            kept.connection.receive(Self.head(fields[number % 3]))
            #expect(try kept.connection.sent().hasSuffix("body"))
        }
        kept.connection.receive(Self.head(""))
        #expect(try kept.connection.sent().hasSuffix("body"), "and a client without")
        #expect(kept.passed == 1 && kept.responses.size.entries == 1)
    }

    @Test("SRV-11 A response is given to no other token or profile, whatever fields stand between")
    func credentials() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head("Via: a\r\nAuthorization: Bearer one\r\n"), "one's")
        for fields in [
            "Authorization: Bearer two\r\nVia: a\r\n", "Via: a\r\n", "Via: a\r\nLarder-Profile: anna\r\n",
            "Via: a\r\nAuthorization: Bearer one\r\nAuthorization: Bearer two\r\n",
            "Via: Authorization: Bearer one\r\n", "Via: a\r\n\tAuthorization: Bearer one\r\n",
        ] {
            let other = try CachingConnection(responses: kept.responses)
            other.connection.receive(Self.head(fields))
            #expect(try !other.connection.sent().contains("one's"), "\(fields)")
        }
    }

    @Test(
        "A response whose Vary names such a field is that of the whole head",
        arguments: ["User-Agent", "*", "a, VIA"]
    )
    func vary(member: String) throws {
        let kept = try CachingConnection()
        let heads = ["User-Agent: a\r\nVia: b\r\n", "", "User-Agent: c\r\nVia: b\r\n", "User-Agent: a\r\nVia: c\r\n"]
        for (index, fields) in heads.enumerated() {
            _ = try kept.record(Self.head(fields), "body \(index)", fields: ["Vary": "Accept-Encoding, \(member)"])
        }
        #expect(kept.passed == heads.count)
        for (index, fields) in heads.enumerated() {
            kept.connection.receive(Self.head(fields))
            #expect(try kept.connection.sent().hasSuffix("body \(index)"))
        }
        #expect(kept.passed == heads.count)
    }

    @Test("SRV-11 A head beyond the limits is refused, although what matters of it is known")
    func limits() throws {
        let kept = try CachingConnection(ConnectionLimits(headerBytes: 1000))
        _ = try kept.record(Self.head(""), "body")
        kept.connection.receive(Self.head("Via: \(String(repeating: "a", count: 1000))\r\n"))
        #expect(try kept.connection.sent().contains(" 431 "))
        let many = try CachingConnection(responses: kept.responses)
        many.connection.receive(Self.head(String(repeating: "Via: a\r\n", count: 100)))
        #expect(try many.connection.sent().contains(" 431 "))
    }

    @Test("SRV-11 Requests for one language share a response, whatever Accept-Language says besides")
    func languages() {
        func bytes(_ fields: String) -> String? {
            SignificantHead(ByteBuffer(string: Self.head(fields)), ["en", "ru"]).map { String(buffer: $0.bytes) }
        }
        let russian = bytes("Accept-Language: ru-RU,ru;q=0.9,en;q=0.8\r\n")
        #expect(russian == Self.head("") + "ru")
        #expect(bytes("accept-language:RU\r\nUser-Agent: b\r\n") == russian)
        #expect(bytes("Accept-Language: en\r\n") == Self.head("") + "en")
        #expect(bytes("Accept-Language: de\r\n") == Self.head(""))
        #expect(bytes("Accept-Language: de\r\nAccept-Language: ru;q=0.1\r\n") == russian)
        #expect(bytes("X-Forwarded-For: ru\r\n") == Self.head(""))
    }

    @Test("SRV-11 Of cookies only the server's own matter; they follow the head in their order")
    func cookies() {
        func bytes(_ fields: String) -> String? {
            let head = SignificantHead(ByteBuffer(string: Self.head(fields)), ["en", "ru"], cookies: "larder-x-")
            return head.map { String(buffer: $0.bytes) }
        }
        let plain = Self.head("")
        #expect(bytes("Cookie: theme=dark\r\n") == plain && bytes("cookie:a=b; c=d\r\nCOOKIE: e\r\n") == plain)
        let own = plain + "\nlarder-x-disk=1\nlarder-x-ships=2"
        #expect(bytes("Cookie: a; larder-x-disk=1;larder-x-ships=2; b=c\r\n") == own)
        #expect(bytes("Cookie: larder-x-disk=1\r\nVia: a\r\nCookie: larder-x-ships=2\r\n") == own)
        #expect(bytes("Cookie: larder-x-ships=2; larder-x-disk=1\r\n") != own)
        #expect(bytes("Accept-Language: ru\r\nCookie: larder-x-disk=1\r\n") == plain + "ru\nlarder-x-disk=1")
        #expect(bytes("Cookie: larder-y-disk=1; Larder-x-disk=1\r\n") == plain)
        #expect(bytes("Cookie: a=\u{E4}; larder-x-disk=1\r\n") == nil && bytes("Cookies: a\r\n") == nil)
    }

    @Test("SRV-11 A response that depends on cookies of sessions is shared by browsers whose other cookies differ")
    func sharedByCookies() throws {
        let cache = ResponseCache(budgetBytes: 1 << 20, cookies: "larder-x-", run: "run", logger: .quiet)
        let kept = try CachingConnection(responses: cache)
        func answer(_ fields: String, _ text: String, isSelective: Bool) throws -> String {
            let connection = try CachingConnection(responses: cache)
            connection.connection.receive(Self.head(fields))
            guard connection.passed > 0 else { return try connection.connection.sent() }
            connection.connection.annotations.update { $0.isSelective = isSelective }
            connection.respond(text, fields: isSelective ? ["Vary": "Authorization, Cookie"] : [:])
            return try connection.connection.sent()
        }
        _ = try answer("Cookie: larder-x-disk=1; a=b\r\n", "one's", isSelective: true)
        for fields in ["Cookie: larder-x-disk=1\r\n", "Cookie: c=d; larder-x-disk=1\r\nUser-Agent: e\r\n"] {
            #expect(try answer(fields, "other", isSelective: true).hasSuffix("one's"))
        }
        for fields in ["Cookie: larder-x-disk=2; a=b\r\n", "Cookie: a=b\r\n", "Cookie: larder-x-ships=1\r\n"] {
            #expect(try answer(fields, "another's \(fields)", isSelective: true).hasSuffix("another's \(fields)"))
        }
        let none = try answer("", "nobody's", isSelective: true)
        #expect(none.hasSuffix("another's Cookie: a=b\r\n"), "neither has a cookie that matters")
        #expect(try kept.connection.sent().isEmpty)
    }

    @Test("SRV-11 Cookies are credentials for the upstream of a mount: its responses are those of the whole head")
    func cookiesOfMounts() throws {
        let cache = ResponseCache(budgetBytes: 1 << 20, cookies: "larder-x-", run: "run", logger: .quiet)
        for (index, fields) in ["", "Cookie: a=b\r\n", "Cookie: a=c\r\n", "Cookie: larder-x-a=b\r\n"].enumerated() {
            let kept = try CachingConnection(responses: cache)
            _ = try kept.record(Self.head(fields), "body \(index)")
            #expect(kept.passed == 1)
            kept.connection.receive(Self.head(fields))
            #expect(try kept.connection.sent().hasSuffix("body \(index)") && kept.passed == 1)
        }
    }

    @Test("TRUST-17 The log line of a cached response has the trace of its request")
    func trace() throws {
        let log = LogRecorder()
        let kept = try CachingConnection(responses: ResponseCache(budgetBytes: 1 << 20, run: "run", logger: log.logger))
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let other = String(trace.reversed())
        _ = try kept.record(Self.head("Traceparent: 00-\(trace)-00f067aa0ba902b7-01\r\n"), "body")
        let twice = [trace, other].map { "00-\($0)-00f067aa0ba902b7-01" }.joined(separator: "\r\ntraceparent: ")
        for value in [" 00-\(other)-00f067aa0ba902b7-01", "nonsense", twice] {
            kept.connection.receive(Self.head("traceparent: \(value)\r\n"))
            #expect(try kept.connection.sent().hasSuffix("body"))
        }
        #expect(log.entries(from: .info).map { $0.metadata["trace_id"]?.description } == [other, nil, nil])
    }
}

@Suite("Cached responses to clients that close") struct ClosingHeadTests {
    private static let head = CachingConnection.head("/kept", "Authorization: Bearer one\r\n")
    private static let last = CachingConnection.head("/kept", "Authorization: Bearer one\r\nConnection: close\r\n")

    private static func rest(_ fields: String) -> String? {
        ClosingHead(ByteBuffer(string: CachingConnection.head("/", fields))).map { String(buffer: $0.rest) }
    }

    @Test(
        "Lines that close are left out, wherever they are and however they are written",
        arguments: ["Connection: close\r\n", "connection:close\r\n", "CONNECTION: \tClose \t\r\n"]
    )
    func leftOut(line: String) {
        #expect(Self.rest("\(line)A: b\r\n") == CachingConnection.head("/", "A: b\r\n"))
        #expect(Self.rest("A: b\r\n\(line)\(line)") == CachingConnection.head("/", "A: b\r\n"))
    }

    @Test(
        "SRV-11 Other lines, and lines that continue others, are left where they are",
        arguments: [
            "", "Connection: keep-alive\r\n", "Connection: close, te\r\n", "Connection:\r\n", "Connections: close\r\n",
            "Connection : close\r\n", "A: close\r\n", "Connection: closeXY\n", "Connection: close\r\n x\r\n",
        ]
    )
    func kept(fields: String) {
        #expect(Self.rest(fields) == nil)
    }

    @Test("SRV-06 A client that closes gets the cached response, with its end and nothing behind it")
    func closes() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        kept.connection.receive(Self.last + Self.head)
        let sent = try kept.connection.sent()
        #expect(sent.hasPrefix("HTTP/1.1 200 OK\r\n") && sent.hasSuffix("\r\nConnection: close\r\n\r\nbody"))
        #expect(sent.components(separatedBy: "HTTP/1.1 ").count == 2)
        #expect(kept.connection.socket.isOutputClosed && kept.connection.channel.isActive, "the client can still read")
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().isEmpty)
        kept.connection.advance(seconds: 60)
        #expect(!kept.connection.channel.isActive)
        #expect(kept.passed == 1 && kept.connection.journal.cuts.isEmpty)
    }

    @Test("A response that ended its connection is cached for others, without saying so")
    func recorded() throws {
        let kept = try CachingConnection()
        #expect(try kept.record(Self.last, "body").lowercased().contains("connection: close"))
        let second = try CachingConnection(responses: kept.responses)
        for _ in 0..<2 {
            second.connection.receive(Self.head)
            let sent = try second.connection.sent()
            #expect(sent.hasSuffix("\r\n\r\nbody") && !sent.lowercased().contains("connection"))
        }
        second.connection.receive(Self.last)
        #expect(try second.connection.sent().lowercased().contains("connection: close\r\n\r\nbody"))
        #expect(second.passed == 0 && second.connection.socket.isOutputClosed)
    }

    @Test("What is cached for a client that closes is for its token only")
    func tokens() throws {
        let kept = try CachingConnection()
        _ = try kept.record(Self.head, "body")
        kept.connection.receive(CachingConnection.head("/kept", "Authorization: Bearer two\r\nConnection: close\r\n"))
        #expect(try kept.connection.sent().isEmpty && kept.passed == 2)
    }
}

@Suite("Heads that a connection repeats") struct RepeatedHeadTests {
    private static let head = CachingConnection.head("/kept", "Authorization: Bearer one\r\n")

    /// A connection that has had a hit.
    private static func repeating(_ head: String = head, _ token: ChangeToken = .unlimited) throws -> CachingConnection
    {
        let kept = try CachingConnection()
        _ = try kept.record(head, "body", token)
        kept.connection.receive(head)
        #expect(try kept.connection.sent().hasSuffix("body"))
        #expect(kept.passed == 1)
        return kept
    }

    @Test("SRV-06 A repeated head gets its response, also many together")
    func repeated() throws {
        let kept = try Self.repeating()
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("body"))
        kept.connection.receive(Self.head + Self.head + Self.head)
        #expect(try kept.connection.sent().components(separatedBy: "\r\n\r\nbody").count == 4)
        #expect(kept.passed == 1)
    }

    @Test("SRV-06 A head that differs in any byte is another request")
    func changed() throws {
        for (index, byte) in Self.head.utf8.enumerated() where (0x61...0x7A).contains(byte) {
            let kept = try Self.repeating()
            var bytes = Array(Self.head.utf8)
            bytes[index] = byte == UInt8(ascii: "q") ? byte - 1 : UInt8(ascii: "q")
            kept.connection.receive(String(decoding: bytes, as: UTF8.self))
            #expect(try !kept.connection.sent().hasSuffix("body"), "\(index)")
        }
    }

    @Test("A repeated head is served by the application once its response is not valid any more, and then anew")
    func invalid() throws {
        let counter = VersionCounter()
        let kept = try Self.repeating(Self.head, ChangeToken(of: counter))
        counter.bump()
        #expect(try kept.record(Self.head, "new", ChangeToken(of: counter)).hasSuffix("new"))
        #expect(kept.passed == 2)
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent().hasSuffix("new"))
        #expect(kept.passed == 2)
    }

    @Test("SRV-11 A repeated head keeps no response that the cache has evicted or forgotten")
    func evicted() throws {
        let kept = try Self.repeating()
        kept.responses.close()
        kept.connection.receive(Self.head)
        #expect(try kept.connection.sent() == "")
        #expect(kept.passed == 2)
        let small = try CachingConnection(budget: 64 << 10)
        _ = try small.record(Self.head, "body")
        weak let evicted = small.responses.find(ByteBuffer(string: Self.head), now: .now())?.response
        small.connection.receive(Self.head)
        #expect(try small.connection.sent().hasSuffix("body") && evicted != nil)
        for number in 0..<200 {
            _ = try small.record(CachingConnection.head("/\(number)"), String(repeating: "x", count: 4000))
        }
        #expect(evicted == nil)
    }

    @Test("Each response to a repeated head has an identity of its own, unless the client sends one")
    func identity() throws {
        for field in ["", "X-Request-Id: mine\r\n"] {
            let head = CachingConnection.head("/kept", field)
            let kept = try CachingConnection()
            _ = try kept.record(head, "body", fields: ["X-Request-Id": "first"])
            let identities = try (0..<3).map { _ in
                kept.connection.receive(head)
                return try kept.connection.sent().split(separator: "\r\n").filter {
                    $0.lowercased().hasPrefix("x-request-id")
                }
            }
            #expect(Set(identities).count == (field.isEmpty ? 3 : 1))
            #expect(identities.allSatisfy { $0.count == 1 })
        }
    }

    @Test("A head that is longer than what is kept with a connection gets its response as well")
    func long() throws {
        let kept = try Self.repeating(CachingConnection.head("/kept", "A: \(String(repeating: "a", count: 5000))\r\n"))
        kept.connection.receive(Self.head)
        #expect(kept.passed == 2)
    }
}
