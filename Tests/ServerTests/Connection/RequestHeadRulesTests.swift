import NIOHTTP1
import Synchronization
import Testing

@testable import Server

@Suite("Which request heads are accepted")
struct RequestHeadRulesTests {
    private let rules = RequestHeadRules(limits: .standard)

    private func head(
        _ uri: String = "/",
        method: HTTPMethod = .GET,
        version: HTTPVersion = .http1_1,
        _ fields: [(String, String)] = [("Host", "localhost:8080")]
    ) -> HTTPRequestHead {
        HTTPRequestHead(version: version, method: method, uri: uri, headers: HTTPHeaders(fields))
    }

    private func status(_ head: HTTPRequestHead, rules: RequestHeadRules? = nil) -> Int? {
        switch (rules ?? self.rules).judge(head) {
        case .success: nil
        case .failure(let refusal): refusal.status
        }
    }

    @Test(
        "SRV-11 Framing and Host that can be read in two ways are refused",
        arguments: [
            [],
            [("Host", "a"), ("Host", "a")],
            [("Host", "a"), ("host", "b")],
            [("Host", "")],
            [("Host", "a, b")],
            [("Host", "user@a")],
            [("Host", "a/b")],
            [("Host", "::1")],
            [("Host", "[::1")],
            [("Host", "[a]")],
            [("Host", "a:b")],
            [("Host", "a:1:2")],
            [("Host", ":80")],
            [("Host", "127.0.0.1:99999")],
            [("Host", "a"), ("Transfer-Encoding", "gzip, chunked")],
            [("Host", "a"), ("Transfer-Encoding", "identity"), ("Transfer-Encoding", "chunked")],
            [("Host", "a"), ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
            [("Host", "a"), ("Transfer-Encoding", "chunked, chunked")],
            [("Host", "a"), ("Transfer-Encoding", "\tchunked")],
            [("Host", "a"), ("Transfer-Encoding", "xchunked")],
            [("Host", "a"), ("Transfer-Encoding", "")],
            [("Host", "a"), ("Transfer-Encoding", "chunked"), ("Content-Length", "3")],
            [("Host", "a"), ("Content-Length", "3"), ("Content-Length", "4")],
            [("Host", "a"), ("Content-Length", "3, 3")],
            [("Host", "a"), ("Content-Length", "+3")],
            [("Host", "a"), ("Content-Length", "-3")],
            [("Host", "a"), ("Content-Length", "0x3")],
            [("Host", "a"), ("Content-Length", "")],
            [("Host", "a"), ("Content-Length", "99999999999999999999")],
            [("Host", "a"), ("Expect", "200-ok")],
        ] as [[(String, String)]]
    )
    func refusedFields(fields: [(String, String)]) {
        #expect(status(head(method: .POST, fields)) == 400)
    }

    @Test(
        "Ordinary fields are accepted",
        arguments: [
            [("Host", "a")],
            [("Host", "a:8080 ")],
            [("Host", "[::1]:8080")],
            [("Host", "[::ffff:127.0.0.1]")],
            [("Host", "127.0.0.1.:65535")],
            [("Host", "a:")],
            [("Host", "a"), ("Transfer-Encoding", "Chunked")],
            [("Host", "a"), ("Content-Length", "3"), ("Content-Length", "3")],
            [("Host", "a"), ("Content-Length", " 0 ")],
            [("Host", "a"), ("Expect", "100-Continue")],
        ] as [[(String, String)]]
    )
    func acceptedFields(fields: [(String, String)]) {
        #expect(status(head(method: .POST, fields)) == nil)
    }

    @Test(
        "SRV-11 Targets that are not a clean path are refused",
        arguments: [
            "", "path", "*", "localhost:80", "ftp://a/", "https://a/", "http:///x", "http://user@a/x", "/a#b", "/a b",
            "/a\u{0}", "/a\u{7F}", "/a\u{1}",
            "/%", "/%4", "/%zz", "/%4g", "/a%00b", "/é", "http://a/#f",
        ]
    )
    func refusedTargets(uri: String) {
        #expect(status(head(uri)) == 400)
    }

    @Test(
        "Clean targets are accepted as they are",
        arguments: ["/", "/v1/ships?limit=20&q=%D0%9F", "/a|b", "//a/b", "/a:b", "/?x=http://b/"]
    )
    func acceptedTargets(uri: String) throws {
        #expect(try rules.judge(head(uri)).get().head == head(uri))
    }

    @Test("The asterisk is for OPTIONS")
    func asterisk() {
        #expect(status(head("*", method: .OPTIONS)) == nil)
    }

    @Test(
        "An absolute target replaces Host and becomes a path",
        arguments: [("http://b:81/x?y=1", "/x?y=1"), ("HTTP://b:81", "/"), ("http://b:81?y", "/?y")]
    )
    func absoluteTarget(uri: String, origin: String) throws {
        let accepted = try rules.judge(head(uri, [("Host", "a")])).get().head
        #expect(accepted.uri == origin)
        #expect(accepted.headers["host"] == ["b:81"])
    }

    @Test("SRV-11 A target over the limit is 414, a head or a number of fields 431; at the limit it is accepted")
    func sizes() {
        let limits = ConnectionLimits(headerBytes: 200, headerCount: 3, urlBytes: 20)
        let rules = RequestHeadRules(limits: limits)
        #expect(status(head("/" + String(repeating: "a", count: 19)), rules: rules) == nil)
        #expect(status(head("/" + String(repeating: "a", count: 20)), rules: rules) == 414)
        let three = [("Host", "a"), ("A", "1"), ("B", "2")]
        #expect(status(head("/", three), rules: rules) == nil)
        #expect(status(head("/", three + [("C", "3")]), rules: rules) == 431)
        // Request line 16 bytes, Host line 9, so 175 are left for this one, of which five are not its value.
        #expect(status(head("/", [("Host", "a"), ("A", String(repeating: "x", count: 170))]), rules: rules) == nil)
        #expect(status(head("/", [("Host", "a"), ("A", String(repeating: "x", count: 171))]), rules: rules) == 431)
    }

    @Test("Versions other than 1.0 and 1.1 are refused")
    func versions() {
        #expect(status(head(version: .init(major: 1, minor: 2))) == 400)
        #expect(status(head(version: .http2)) == 400)
        #expect(status(head(version: .http1_0, [])) == nil)
        #expect(status(head(version: .http1_0, [("Transfer-Encoding", "chunked")])) == 400)
    }

    @Test(
        "The connection lives on as RFC 9112 section 9.3 says",
        arguments: [
            (HTTPVersion.http1_1, [], true),
            (.http1_1, [("Connection", "keep-alive")], true),
            (.http1_1, [("Connection", "close")], false),
            (.http1_1, [("Connection", "Close")], false),
            (.http1_1, [("connection", "te , CLOSE")], false),
            (.http1_1, [("Connection", "keep-alive"), ("Connection", "close")], false),
            (.http1_1, [("Connection", "closed")], true),
            (.http1_1, [("Connection", "Upgrade"), ("Upgrade", "h2c")], false),
            (.http1_0, [], false),
            (.http1_0, [("Connection", "Keep-Alive")], true),
            (.http1_0, [("Connection", "keep-alive, close")], false),
        ] as [(HTTPVersion, [(String, String)], Bool)]
    )
    func keepAlive(version: HTTPVersion, fields: [(String, String)], keepsAlive: Bool) throws {
        let accepted = try rules.judge(head(version: version, [("Host", "a")] + fields)).get()
        #expect(accepted.keepsAlive == keepsAlive)
        #expect((accepted.head.headers["connection"] == ["close"]) == !keepsAlive)
    }

    @Test("100 Continue is expected with a body on HTTP/1.1 only")
    func expectContinue() throws {
        let expect = [("Host", "a"), ("Expect", "100-continue")]
        let length = [("Content-Length", "3")]
        #expect(try rules.judge(head(method: .POST, expect + length)).get().expectsContinue)
        #expect(try rules.judge(head(method: .POST, expect + [("Transfer-Encoding", "chunked")])).get().expectsContinue)
        #expect(try !rules.judge(head(method: .POST, expect)).get().expectsContinue)
        #expect(try !rules.judge(head(method: .POST, expect + [("Content-Length", "0")])).get().expectsContinue)
        #expect(try !rules.judge(head(method: .POST, version: .http1_0, expect + length)).get().expectsContinue)
        #expect(try !rules.judge(head(method: .POST, [("Host", "a")] + length)).get().expectsContinue)
    }

    @Test("TRUST-07 A connection that ends loses the names in Connection, and the fields of these names with them")
    func nominated() throws {
        let fields = [
            ("Host", "localhost:8080"), ("Connection", "close, X-Hop, Authorization"), ("Connection", "Host, x-other"),
            ("X-Hop", "1"), ("X-Other", "2"), ("X-Kept", "3"), ("Authorization", "Bearer a"),
        ]
        let accepted = try rules.judge(head("/", fields)).get().head.headers
        #expect(accepted["Connection"] == ["close"])
        #expect(!accepted.contains(name: "X-Hop") && !accepted.contains(name: "X-Other"))
        #expect(accepted.contains(name: "X-Kept") && accepted.contains(name: "Authorization"))
        #expect(accepted["Host"] == ["localhost:8080"])
    }
}

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
