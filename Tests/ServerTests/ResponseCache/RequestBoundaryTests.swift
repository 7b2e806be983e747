import NIOCore
import Testing

@testable import Server

@Suite("Where one request ends and the next begins") struct RequestBoundaryTests {
    private var boundary = RequestBoundary()
    private var decoded = DecodedCounts()

    /// Passes on all of a text, and returns its stretches; `read` counts as the decoder would for each of them.
    private mutating func pass(_ text: String, _ read: (String, inout DecodedCounts) -> Void) -> [String] {
        var bytes = ByteBuffer(string: text)
        var stretches: [String] = []
        while bytes.readableBytes > 0 {
            let stretch = bytes.withUnsafeReadableBytes { boundary.stretch(of: $0) }
            guard let piece = bytes.readString(length: stretch.count) else { break }
            stretches.append(piece)
            let before = decoded
            read(piece, &decoded)
            boundary.passed(stretch, before: before, after: decoded)
        }
        return stretches
    }

    private static func plain(_ piece: String, _ decoded: inout DecodedCounts) {
        guard piece.hasSuffix("\r\n\r\n") else { return }
        decoded = .init(heads: decoded.heads + 1, ends: decoded.ends + 1, contentLength: nil)
    }

    @Test("Requests without a body are separated, in however many pieces they arrive")
    mutating func heads() {
        #expect(boundary.isAtStart)
        #expect(
            pass("GET / HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGE", Self.plain) == [
                "GET / HTTP/1.1\r\n\r\n", "GET /b HTTP/1.1\r\n\r\n", "GE",
            ]
        )
        #expect(!boundary.isAtStart)
        _ = pass("T / HTTP/1.1\r\n\r", Self.plain)
        var first = true
        _ = pass("\n") { _, decoded in
            if first { decoded = .init(heads: decoded.heads + 1, ends: decoded.ends + 1) }
            first = false
        }
        #expect(boundary.isAtStart)
    }

    @Test("The end of a head is found wherever CR and LF are, in one piece or two")
    func lineEnds() {
        var texts: [[UInt8]] = [[]]
        for _ in 0..<7 { texts = texts.flatMap { text in Array("a\r\n".utf8).map { text + [$0] } } }
        for text in texts {
            let end = (3..<text.count).first { Array(text[($0 - 3)...$0]) == Array("\r\n\r\n".utf8) }
            let isPlain = (0...(end ?? text.count - 1)).allSatisfy {
                text[$0] != 0x0A || $0 > 0 && text[$0 - 1] == 0x0D
            }
            for split in 0..<min(4, end ?? text.count) {
                var boundary = RequestBoundary()
                if split > 0 { _ = text[..<split].withUnsafeBytes { boundary.stretch(of: $0) } }
                let stretch = text[split...].withUnsafeBytes { boundary.stretch(of: $0) }
                #expect(stretch.count == (end.map { $0 + 1 } ?? text.count) - split, "\(text) at \(split)")
                #expect(stretch.endsHead == (end != nil) && (end == nil || stretch.hasPlainLineEnds == isPlain))
            }
        }
    }

    @Test("SRV-11 A body of known length is counted: a head within it is none")
    mutating func body() {
        let inner = "GET /kept HTTP/1.1\r\n\r\n"
        #expect(
            pass("POST / HTTP/1.1\r\nContent-Length: 22\r\n\r\n" + inner + "GET / HTTP/1.1\r\n\r\n") { piece, decoded in
                if piece.hasPrefix("POST") {
                    decoded = .init(heads: 1, ends: 0, contentLength: 22)
                } else if piece == inner {
                    decoded.ends += 1
                } else {
                    Self.plain(piece, &decoded)
                }
            }.count == 3
        )
        #expect(boundary.isAtStart)
    }

    /// The head of a request with a chunked body.
    private mutating func beginChunked() {
        _ = pass("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n") { _, decoded in
            decoded.heads += 1
            decoded.isChunked = true
        }
    }

    @Test(
        "A chunked body ends if the decoder says so and its last bytes end one, in however many pieces they arrive",
        arguments: ["", "X: 1\r\n"]
    )
    mutating func chunked(trailers: String) {
        beginChunked()
        _ = pass("4\r\n\r\n\r\n\r\n") { _, _ in }
        #expect(!boundary.isAtStart, "an empty line in the data")
        for piece in ["0", "\r\n\(trailers)\r"] { _ = pass(piece) { _, _ in } }
        #expect(!boundary.isAtStart)
        _ = pass("\n") { _, decoded in decoded.ends += 1 }
        #expect(boundary.isAtStart)
        #expect(pass("GET / HTTP/1.1\r\n\r\n", Self.plain).count == 1)
        #expect(boundary.isAtStart)
    }

    @Test(
        "SRV-11 What comes behind the end of a chunked body in the same read is not taken for a start",
        arguments: ["GET / HTTP/1.1\r\n\r\n", "GET / HT", "\r\n"]
    )
    mutating func behindChunked(rest: String) {
        beginChunked()
        _ = pass("0\r\n\r\n" + rest) { _, decoded in
            decoded.ends += 1
            if rest.hasSuffix("1\r\n\r\n") { decoded = .init(heads: decoded.heads + 1, ends: decoded.ends + 1) }
        }
        #expect(boundary.isAtStart == (rest == "\r\n"), "an empty line more is one that the decoder skips")
        _ = pass("GET / HTTP/1.1\r\n\r\n", Self.plain)
        #expect(boundary.isAtStart == (rest == "\r\n"))
    }

    @Test("SRV-11 After a body of unknown length, and after an error, nothing is a start any more")
    mutating func lost() {
        _ = pass("POST / HTTP/1.1\r\n\r\n") { _, decoded in decoded.heads += 1 }
        _ = pass("\r\n\r\n") { _, decoded in decoded.ends += 1 }
        #expect(!boundary.isAtStart)
        _ = pass("GET / HTTP/1.1\r\n\r\n", Self.plain)
        #expect(!boundary.isAtStart)
    }

    @Test(
        "SRV-11 A head with bare LF is not counted: its body may have begun before the empty line that is found",
        arguments: ["\n", "\r\n"]
    )
    mutating func bareLineFeeds(lineEnd: String) {
        let head = ["POST / HTTP/1.1", "Host: a", "Content-Length: 10", "", ""].joined(separator: lineEnd)
        // To a decoder that takes LF, these eight bytes are the first of the body.
        _ = pass(head + (lineEnd == "\n" ? "AAAA\r\n\r\n" : "")) { piece, decoded in
            if piece.hasPrefix("POST") { decoded = .init(heads: 1, ends: 0, contentLength: 10) }
        }
        _ = pass("BBGET /sec") { _, decoded in decoded.ends += 1 }
        #expect(boundary.isAtStart == (lineEnd == "\r\n"))
    }

    @Test("SRV-11 Where the decoder sees an end that should not be there, the count is given up")
    mutating func contradiction() {
        _ = pass("GET / HTTP/1.1\nHost: a\n\n") { _, decoded in
            decoded.heads += 1
            decoded.ends += 1
        }
        #expect(!boundary.isAtStart)
    }
}
