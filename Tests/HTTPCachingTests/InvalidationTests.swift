import HTTPCaching
import HTTPTypes
import Testing

@Suite("Invalidation (RFC 9111 §4.4)")
struct InvalidationTests {
    private func targets(
        _ method: String,
        _ fields: HTTPFields = [:],
        status: HTTPResponse.Status = .ok,
        url: String = "http://origin.example/a/b?q=1"
    ) throws -> [String] {
        let request = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)),
            scheme: nil,
            authority: nil,
            path: nil
        )
        return Invalidation.targets(of: request, url: url, response: HTTPResponse(status: status, headerFields: fields))
    }

    @Test(
        "Unsafe methods, and those nobody knows, invalidate their target",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "get"]
    )
    func unsafeMethods(method: String) throws {
        #expect(try targets(method) == ["http://origin.example/a/b?q=1"])
        #expect(try targets(method, status: .seeOther).count == 1)
    }

    @Test("Errors and safe methods invalidate nothing")
    func nothing() throws {
        #expect(try targets("POST", status: .internalServerError).isEmpty)
        #expect(try targets("POST", status: .notFound).isEmpty)
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"] { #expect(try targets(method).isEmpty) }
    }

    @Test("Location and Content-Location are invalidated too, resolved against the target")
    func locations() throws {
        let found = try targets("POST", [.location: "../c", .contentLocation: "/d?x#frag"])
        #expect(found == ["http://origin.example/a/b?q=1", "http://origin.example/c", "http://origin.example/d?x"])
    }

    @Test(
        "Another origin is never invalidated",
        arguments: ["//other.example/c", "https://origin.example/c", "http://origin.example:8080/c", "mailto:a@b"]
    )
    func otherOrigin(location: String) throws {
        #expect(try targets("PUT", [.location: location]).count == 1)
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

@Suite("Cache-Status (RFC 9211)")
struct CacheStatusTests {
    @Test("Each account reads as the screens' contract shows it")
    func accounts() {
        let policy = Sample.shared
        func text(_ status: CacheStatus) -> String { status.member(of: policy.cacheName) }
        #expect(text(policy.account(of: .uriMiss, upstreamStatus: 200, stored: true)) == "larder; fwd=uri-miss; stored")
        #expect(
            text(policy.account(of: .stale, upstreamStatus: 200, stored: true))
                == "larder; fwd=stale; fwd-status=200; stored"
        )
        #expect(text(policy.account(of: .stale, upstreamStatus: 304)) == "larder; fwd=stale; fwd-status=304")
        #expect(
            text(policy.account(of: .uriMiss, upstreamStatus: 200, collapsed: true))
                == "larder; fwd=uri-miss; collapsed"
        )
        #expect(
            text(policy.account(of: .stale, upstreamStatus: nil, detail: "unreachable"))
                == "larder; fwd=stale; detail=unreachable"
        )
        #expect(
            text(policy.account(of: .stale, upstreamStatus: 503, detail: "stale-if-error"))
                == "larder; fwd=stale; fwd-status=503; detail=stale-if-error"
        )
        #expect(
            text(policy.account(of: .request, upstreamStatus: 200, stored: true))
                == "larder; fwd=request; fwd-status=200; stored"
        )
    }

    @Test("A copy used without trying tells its negative freshness and why")
    func offline() {
        let stored = Sample.stored([.cacheControl: "max-age=10"], age: 422)
        let reuse = Sample.lastGood.reuse(of: stored, at: 0, now: Sample.now, detail: "offline")
        #expect(reuse.status.member(of: "larder") == "larder; hit; ttl=-412; detail=offline")
        #expect(reuse.age == 422)
    }

    @Test("The account stands behind those of caches nearer to the origin")
    func appended() {
        var fields: HTTPFields = [.cacheStatus: "origin-side; hit"]
        CacheStatus(.hit).append(to: &fields, cacheName: "larder")
        #expect(fields[values: .cacheStatus] == ["origin-side; hit", "larder; hit"])
    }

    @Test("The fields that HTTPTypes does not list have their names")
    func fieldNames() {
        #expect(HTTPField.Name.cacheStatus.canonicalName == "cache-status")
        #expect(HTTPField.Name.cdnCacheControl.canonicalName == "cdn-cache-control")
    }

    @Test("Detail is a token where it can be one, else a quoted string without what a string cannot hold")
    func detail() {
        #expect(
            CacheStatus(.hit, detail: "not \"so\" good\u{E9}").member(of: "c")
                == "c; hit; detail=\"not \\\"so\\\" good\""
        )
    }
}
