import TestKit

/// Responses as bytes: valid ones of every framing, and ones that break a single rule each. ``WireCase`` mutates them.
struct WireResponse {
    private var chance: SeededRandom
    /// Port of the server itself, for links to it.
    private let port: Int

    init(chance: SeededRandom, port: Int) {
        self.chance = chance
        self.port = port
    }

    /// The bytes, and whether a client knows where they end while the connection stays open.
    mutating func bytes() -> (text: String, isSelfDelimited: Bool) {
        var text = ""
        while chance.once(in: 6) { text += interim() }
        if chance.once(in: 400) { for _ in 0...chance.number(60...70) { text += interim() } }
        let status = status()
        let reason = chance.once(in: 4) ? chance.text(of: Self.reasons) : " OK"
        let version = chance.once(in: 20) ? chance.text(of: Self.versions) : "HTTP/1.1"
        text += "\(version) \(status)\(reason)\r\n"
        for _ in 0..<chance.number(0...3) { text += chance.text(of: Self.fields) }
        if chance.once(in: 12) { text += chance.text(of: Self.oddFields) }
        if chance.once(in: 200) { text += String(repeating: "X-Many: 1\r\n", count: chance.number(200...300)) }
        if chance.once(in: 200) {
            text += "X-Large: \(String(repeating: "a", count: chance.number(60_000...90_000)))\r\n"
        }
        if status.hasPrefix("3") || chance.once(in: 20) { text += "Location: \(location())\r\n" }
        let (framed, isSelfDelimited) = framed()
        text += framed
        if chance.once(in: 12) { text += chance.text(of: Self.behind) }
        return (text, isSelfDelimited)
    }

    /// Any number of three digits, most often one that means something, sometimes none.
    private mutating func status() -> String {
        switch chance.number(0...19) {
        case 0...8:
            chance.text(of: ["200", "200", "200", "201", "204", "206", "304", "404", "412", "429", "500", "503"])
        case 9...11: chance.text(of: ["301", "302", "303", "307", "308", "300", "305"])
        case 12...13: chance.text(of: ["000", "001", "042", "099", "100", "101", "102", "103", "199"])
        case 14: chance.text(of: ["600", "700", "999"])
        case 15: chance.text(of: ["1000", "99", "9", "0200", "20", "2000000000000000000000", "-1", "+200", "2x0", ""])
        default: String(String(1000 + chance.number(0...999)).suffix(3))
        }
    }

    private mutating func interim() -> String {
        let line = chance.text(of: ["100 Continue", "102 Processing", "103 Early Hints", "199 ", "150 Any"])
        let rest = chance.text(of: Self.interimFields)
        return "HTTP/1.1 \(line)\r\n\(rest)\r\n"
    }

    private mutating func location() -> String {
        let own = "127.0.0.1:\(port)"
        return switch chance.number(0...5) {
        case 0: chance.text(of: ["/next", "next", "?a=1", "//\(own)/next", "http://\(own)/next", "#", "/a#b"])
        case 1:
            chance.text(of: [
                "http://u:p@\(own)/", "http://\(own):1/", "http://\(own)/%0d%0aX:%20y", "http://\(own)/a b",
            ])
        case 2: String(repeating: chance.text(of: ["/..", "/a", "a", "%"]), count: chance.number(1...5000))
        default: chance.text(of: Self.locations)
        }
    }

    /// Fields of framing, the empty line, the body.
    private mutating func framed() -> (String, isSelfDelimited: Bool) {
        let long = String(repeating: "0123456789", count: chance.number(0...4000))
        let body = chance.text(of: ["", "hello", "[{\"id\":1}]", "\u{1F}\u{8B}\u{8}\0\0", long])
        let length = body.utf8.count
        switch chance.number(0...19) {
        case 0...8: return ("Content-Length: \(length)\r\n\r\n\(body)", true)
        case 9...13: return ("Transfer-Encoding: chunked\r\n\r\n\(chunked(body))", true)
        case 14...15: return ("\r\n\(body)", false)
        case 16:
            let wrong = ["0", "\(length + 7)", "\(max(0, length - 3))"] + Self.lengths
            return ("Content-Length: \(chance.text(of: wrong))\r\n\r\n\(body)", false)
        case 17: return ("Content-Length: \(length)\r\n\(chance.text(of: Self.framings))\r\n\(chunked(body))", false)
        case 18: return ("\(chance.text(of: Self.framings))\r\n\(chunked(body))", false)
        default: return ("Transfer-Encoding: chunked\r\n\r\n\(chance.text(of: Self.brokenChunks))", false)
        }
    }

    private mutating func chunked(_ body: String) -> String {
        var rest = body.unicodeScalars[...]
        var text = ""
        while !rest.isEmpty {
            let part = String(rest.prefix(chance.number(1...rest.count)))
            text += "\(String(part.utf8.count, radix: 16))\(chance.text(of: ["", "", ";a=b", ";\"x\""]))\r\n\(part)\r\n"
            rest = rest.dropFirst(part.unicodeScalars.count)
        }
        return text + "0\r\n" + (chance.once(in: 3) ? chance.text(of: Self.trailers) : "") + "\r\n"
    }
}

extension WireResponse {
    static let versions = [
        "HTTP/1.0", "HTTP/1.0", "HTTP/1.0", "HTTP/1.9", "HTTP/2.0", "HTTP/0.9", "HTTP/1", "http/1.1", "ICY", "RTSP/1.0",
        "HTTP/11.1",
    ]

    static let reasons = [
        " OK", " ", "", " Très bon", " \u{1}\u{7F}", " 200 OK", "\t", " \(String(repeating: "r", count: 9000))",
    ]

    static let interimFields = [
        "", "", "", "Link: </a>; rel=preload\r\n", "Connection: close\r\n", "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Upgrade: x\r\nConnection: upgrade\r\n",
    ]

    static let fields = [
        "Content-Type: application/json\r\n", "Cache-Control: max-age=60\r\n", "Cache-Control: no-store\r\n",
        "Cache-Control: max-age=99999999999999999999, s-maxage=-1\r\n", "Cache-Control: \"\r\n",
        "Cache-Control: stale-if-error=-1\r\n",
        "Age: 18446744073709551616\r\n", "Age: -5\r\n", "Age: 2147483648\r\n",
        "Date: Mon, 05 Jan 2026 10:00:00 GMT\r\n",
        "Date: Fri, 31 Dec 9999 23:59:60 GMT\r\n", "Expires: Sun, 00 Jan 0000 00:00:00 GMT\r\n", "Expires: 0\r\n",
        "Expires: Fri, 31 Dec 9999 23:59:59 GMT\r\n", "Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
        "Retry-After: 9223372036854775807\r\n", "Retry-After: -9223372036854775808\r\n",
        "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n", "ETag: \"a\"\r\n", "ETag: W/\r\n", "Vary: *\r\n",
        "Vary: Accept, ,accept\r\n",
        "Connection: close\r\n", "Connection: keep-alive, X-Hop\r\n", "Connection: upgrade\r\nUpgrade: h2c\r\n",
        "Keep-Alive: timeout=99999999999\r\n", "Content-Encoding: gzip\r\n",
        "Content-Encoding: deflate, br, identity\r\n",
        "Set-Cookie: a=b; Max-Age=99999999999999999999\r\n", "X-Empty:\r\n", "X-Tab:\t\tx\t\r\n", "Trailer: X-T\r\n",
        "Content-Range: bytes 0-4/18446744073709551616\r\n", "Larder-Rendering: 1\r\n", "Larder-Own-Date: x\r\n",
        "Content-Location: http://h:99999/\r\n", "Link: <http://h:99999/>; rel=next\r\n",
        "CDN-Cache-Control: max-age=9999999999999999999999\r\n", "Cache-Status: x; ttl=-99999999999999999999\r\n",
    ]

    static let oddFields = [
        "X-Bytes: \u{80}\u{FF}é\r\n", "X-Null: a\0b\r\n", ": no name\r\n", "No colon\r\n", "X Space: 1\r\n",
        "X-Space : 1\r\n",
        "X-Fold: a\r\n b\r\n", "X-Bare: a\nb\r\n", "X-Return: a\rb\r\n", "é: 1\r\n",
        "\(String(repeating: "n", count: 300)): 1\r\n",
        "Host: a, b\r\n", "X-Empty: \r\n \r\n",
    ]

    static let locations = [
        "http://127.0.0.1:99999/", "http://127.0.0.1:65536/", "http://127.0.0.1:0/", "http://127.0.0.1:-1/",
        "http://127.0.0.1:99999999999999999999/", "//127.0.0.1:70000/", "http://localhost:99999/",
        "http://[::1]:99999/", "http://[]/",
        "http://%5B%5D/", "http://[::1", "http://", "http:", ":", "", " ", "/\u{1}", "/é", "/%", "/%zz", "/%ff",
        "http://a%00b/",
        "file:///etc/passwd", "unix:/a", "http+unix://%2Ftmp%2Fs/", "ftp://127.0.0.1/", "javascript:0",
        "http://\(String(repeating: "a", count: 300)).test/", "\\\\127.0.0.1\\", "http:\\\\127.0.0.1:99999",
        "https://127.0.0.1:1/",
    ]

    static let lengths = [
        "18446744073709551615", "18446744073709551616", "9223372036854775807", "-1", "+5", "5, 5", "0x5", "", " ",
        "5 5", "٥",
    ]

    static let framings = [
        "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: \u{B}chunked\r\n",
        "Transfer-Encoding:\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
    ]

    static let trailers = [
        "X-T: 1\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "X-T: \u{FF}\r\n", ": x\r\n",
        String(repeating: "T: 1\r\n", count: 300), "T: \(String(repeating: "t", count: 90_000))\r\n",
    ]

    static let brokenChunks = [
        "5\r\nhel", "zz\r\n", "-1\r\nx\r\n", "ffffffffffffffff\r\nx", "10000000000000000\r\nx", "7fffffffffffffff\r\nx",
        "8000000000000000\r\nx", "5\r\nhello0\r\n\r\n", "5\nhello\n0\n\n", "\r\n", "0\r\n", "0\r\nX",
        "0\r\n: x\r\n\r\n",
        "5;\(String(repeating: "e", count: 9000))\r\nhello\r\n0\r\n\r\n",
        "000000000000000000000000005\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n", "0\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ]

    /// Bytes after the end.
    static let behind = [
        "x", "\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 099 Low\r\n\r\nx", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc",
        "\0\0\0",
        "GET / HTTP/1.1\r\n\r\n",
    ]
}
