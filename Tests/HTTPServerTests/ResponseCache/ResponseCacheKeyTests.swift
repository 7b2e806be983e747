import NIOCore
import NIOHTTP1
import Testing

@testable import HTTPServer

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
