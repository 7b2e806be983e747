import HTTP
import Testing

/// TRUST-01: no URL from outside reaches a library that ends the process on it.
struct HTTPURLTests {
    @Test(
        "A URL is taken apart",
        arguments: [
            ("http://a.test", "http", "a.test", 80, true), ("https://a.test/x?y", "https", "a.test", 443, true),
            ("HTTPS://A.Test:443/", "https", "a.test", 443, true), ("http://a.test:1/", "http", "a.test", 1, false),
            ("http://a.test:65535/", "http", "a.test", 65535, false), ("http://a.test:/x", "http", "a.test", 80, true),
            ("http://1.2.3.4:00080/", "http", "1.2.3.4", 80, true), ("http://[::1]:8080/", "http", "::1", 8080, false),
            ("http://[::FFFF:1.2.3.4]/", "http", "::ffff:1.2.3.4", 80, true),
            ("http://a.test/x:99999/", "http", "a.test", 80, true),
            ("http://a.test?x@y:99999", "http", "a.test", 80, true),
            ("http://a.test#:99999", "http", "a.test", 80, true),
            ("http://my_host-1.test/", "http", "my_host-1.test", 80, true),
            ("http://[fe80::1%25eth0]/", "http", "fe80::1%eth0", 80, true),
            ("http://пример.рф/", "http", "xn--e1afmkfd.xn--p1ai", 80, true),
        ] as [(String, String, String, UInt16, Bool)]
    )
    func parts(text: String, scheme: String, host: String, port: UInt16, isDefault: Bool) throws {
        let url = try HTTPURL(text)
        #expect(
            url.text == text && url.scheme == scheme && url.host == host && url.port == port
                && url.hasDefaultPort == isDefault
        )
        #expect(!url.hasUser)
    }

    @Test(
        "TRUST-01 A port outside of 1 to 65535 is none",
        arguments: [
            "http://a.test:0/", "http://a.test:00/", "http://a.test:65536/", "http://a.test:99999/",
            "https://127.0.0.1:99999",
            "http://127.0.0.1:070000/", "http://[::1]:65536/", "http://u@a.test:99999/",
            "http://a.test:99999999999999999999/",
            "http://a.test:18446744073709551696/?x", "http://localhost:99999#x",
        ]
    )
    func ports(text: String) {
        #expect(throws: HTTPURL.Defect.port) { try HTTPURL(text) }
    }

    @Test(
        "TRUST-01 A host that is neither name nor address is none: async-http-client ends the process on []",
        arguments: [
            "http://%5B%5D/", "http://%5b%5d:80/", "http://a%00b/", "http://a%20b/", "http://a%2Fb/", "http://a%40b/",
            "http://[v1.a]/",
            "http://%5B::1%5D/", "http://a,b/", "http://%C3%A9.test/", "http://%31", "http://a%2Etest/",
        ]
    )
    func hosts(text: String) {
        #expect(throws: HTTPURL.Defect.self) { try HTTPURL(text) }
    }

    @Test(
        "What is no absolute http or https URL",
        arguments: [
            "", "a", "/a", "//a.test/", "a.test:80", "http:a", "http://", "http:///a", "http://:80/", "http://[]/",
            "http://[::1/", "http://a]/",
            "http://a.test:-1/", "http://a.test:8a/", "http://a.test:+5/", "http://a:b:80/", "http://a b/",
            "ftp://a.test/", "unix:///a",
            "http+unix://a/", "javascript:alert(1)", "http://a.test\r\nX: y/", "http://a.test:٣/",
        ]
    )
    func others(text: String) {
        #expect(throws: HTTPURL.Defect.self) { try HTTPURL(text) }
    }

    @Test("A user is seen, named or not")
    func users() throws {
        for text in ["http://u:p@a.test/", "http://u@a.test:1/", "http://@a.test/"] {
            #expect(try HTTPURL(text).hasUser, "\(text)")
        }
    }

    @Test(
        "Origin and request target are as they were written; what no URI has is encoded",
        arguments: [
            ("http://a.test", "http://a.test", "/"), ("HTTP://A.test:80/x?y#z", "http://A.test:80", "/x?y"),
            ("http://u@a.test/a%ffb", "http://a.test", "/a%ffb"), ("http://a.test?q=%zz", "http://a.test", "/?q=%zz"),
            ("http://[::1]:8080/a/../b", "http://[::1]:8080", "/a/../b"),
            ("http://a.test/д x", "http://a.test", "/%D0%B4%20x"),
        ]
    )
    func targets(text: String, origin: String, target: String) throws {
        let url = try HTTPURL(text)
        #expect(url.origin == origin && url.requestTarget == target)
    }
}

@Suite("Target URIs as keys (RFC 9110 §4.2.3, RFC 3986 §5)")
struct TargetURITests {
    @Test("Scheme, host, default port, empty path and fragment do not tell resources apart; path and query do")
    func normalized() {
        #expect(TargetURI.normalized("HTTP://Origin.Example:80#x") == "http://origin.example/")
        #expect(TargetURI.normalized("https://origin.example:443/A?B=C") == "https://origin.example/A?B=C")
        #expect(TargetURI.normalized("http://origin.example:443/") == "http://origin.example:443/")
        #expect(
            TargetURI.normalized("http://origin.example/a%2Fb") != TargetURI.normalized("http://origin.example/a/b")
        )
        #expect(TargetURI.normalized("/no/base") == nil)
        #expect(TargetURI.normalized("ftp://origin.example/") == nil)
    }

    @Test(
        "References are resolved as RFC 3986 §5.4 shows",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../..", "http://a/"), ("../../../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("http://x.example/../z", "http://x.example/z"),
        ]
    )
    func resolve(reference: String, expected: String) {
        #expect(TargetURI.resolve(reference, against: "http://a/b/c/d;p?q") == expected)
    }
}

@Suite("Percent-encoding (RFC 3986 §2.1)")
struct PercentEncodingTests {
    @Test("Each set leaves its own characters, and no byte beyond ASCII")
    func sets() {
        let text = "aZ09-._~ ,:/%?#[]@!$&'()*+;=\"<>\\^`{|}é\u{1}"
        #expect(
            PercentEncoding.encode(text, allowed: .unreserved)
                == "aZ09-._~%20%2C%3A%2F%25%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%3B%3D"
                + "%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .legibleQuery)
                == "aZ09-._~%20,:/%25%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%3B%3D%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .encodedPath)
                == "aZ09-._~%20,:/%%3F%23%5B%5D@!$&'()*+;=%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .uri)
                == "aZ09-._~%20,:/%?#[]@!$&'()*+;=%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9%01"
        )
        #expect(
            PercentEncoding.encode(text, allowed: .attributeCharacters)
                == "aZ09-._~%20%2C%3A%2F%25%3F#%5B%5D%40!$&%27%28%29%2A+%3B%3D%22%3C%3E%5C^`%7B|%7D%C3%A9%01"
        )
        #expect(PercentEncoding.encode("a-b", allowed: .alphanumerics) == "a%2Db")
    }

    @Test("What is encoded is decoded again, for every byte of UTF-8")
    func roundTrip() {
        let text = String(String.UnicodeScalarView((0...0x7FF).compactMap(Unicode.Scalar.init) + ["\u{1F600}"]))
        let encoded = PercentEncoding.encode(text, allowed: .unreserved)
        #expect(PercentEncoding.decode(encoded) == Array(text.utf8))
    }

    @Test("A percent sign without two hexadecimal digits is an error", arguments: ["%", "a%2", "%G0", "%+1", "%0G"])
    func malformed(text: String) {
        #expect(PercentEncoding.decode(text) == nil)
    }
}
