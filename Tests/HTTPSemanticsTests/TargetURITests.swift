import HTTPSemantics
import Testing

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
