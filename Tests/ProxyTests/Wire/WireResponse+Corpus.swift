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
