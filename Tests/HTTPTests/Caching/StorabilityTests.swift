import Foundation
import HTTP
import HTTPTypes
import Testing

@Suite("Storing (RFC 9111 §3)")
struct StorabilityTests {
    private let fresh: HTTPFields = [.cacheControl: "max-age=60"]

    @Test("Responses to GET are stored; to HEAD, PUT, DELETE, OPTIONS or an unknown method never")
    func method() {
        #expect(Sample.shared.storability(fresh).stored != nil)
        for method in [HTTPRequest.Method.head, .put, .delete, .options, .post] {
            #expect(Sample.shared.storability(fresh, to: Sample.request(method)).refusal == .method)
        }
    }

    @Test("A response to POST is one to GET if it has freshness and its own URI as Content-Location (RFC 9110 §9.3.3)")
    func post() {
        func stored(_ location: String, _ control: String = "max-age=60") -> CachedResponseHead? {
            Sample.shared.storability([.cacheControl: control, .contentLocation: location], to: Sample.request(.post))
                .stored
        }
        #expect(stored("/things/1")?.method == .get)
        #expect(stored("http://ORIGIN.example:80/things/1")?.url == Sample.url)
        #expect(stored("/things/2") == nil)
        #expect(stored("/things/1", "public") == nil)
    }

    @Test(
        "Any final status is stored with explicit freshness, known or not",
        arguments: [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599]
    )
    func explicit(code: Int) {
        #expect(Sample.shared.storability(fresh, status: .init(code: code)).stored != nil)
        #expect(Sample.shared.storability([.expires: Sample.date(-5)], status: .init(code: code)).stored != nil)
    }

    @Test("Without explicit freshness, only statuses heuristically cacheable and public responses are stored")
    func implicit() {
        for code in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
            #expect(Sample.shared.storability([:], status: .init(code: code)).stored != nil, "\(code)")
        }
        for code in [201, 202, 302, 307, 403, 500, 503, 599] {
            #expect(Sample.shared.storability([:], status: .init(code: code)).refusal == .notCacheable, "\(code)")
            #expect(
                Sample.shared.storability([.cacheControl: "public"], status: .init(code: code)).stored != nil,
                "\(code)"
            )
        }
        #expect(Sample.shared.storability([.cacheControl: "s-maxage=5"], status: 302).stored != nil)
        #expect(Sample.own.storability([.cacheControl: "s-maxage=5"], status: 302).refusal == .notCacheable)
        #expect(Sample.own.storability([.cacheControl: "private"], status: 302).stored != nil)
    }

    @Test("Interim responses, 304, 412 and 416 are not responses of their own; 206 without a range is none")
    func unsuitable() {
        for code in [100, 103, 304, 412, 416] {
            #expect(Sample.shared.storability(fresh, status: .init(code: code)).refusal == .status)
        }
        #expect(Sample.shared.storability(fresh, status: 206).refusal == .partial)
    }

    @Test("no-store of either side prevents storing, in any case and beside any lifetime")
    func noStore() {
        #expect(Sample.shared.storability([.cacheControl: "No-StOrE"]).refusal == .noStore)
        #expect(
            Sample.shared.storability([.cacheControl: "max-age=60, no-store", .expires: Sample.date(60)]).refusal
                == .noStore
        )
        #expect(
            Sample.shared.storability(fresh, to: Sample.request(.get, [.cacheControl: "no-store"])).refusal
                == .requestNoStore
        )
    }

    @Test("must-understand lifts no-store for a known status and forbids an unknown one (§5.2.2.3)")
    func mustUnderstand() {
        let fields: HTTPFields = [.cacheControl: "max-age=3600, no-store, must-understand"]
        #expect(Sample.shared.storability(fields).stored != nil)
        #expect(Sample.shared.storability(fields, status: 599).refusal == .notUnderstood)
    }

    @Test("private is for private caches only")
    func privateResponse() {
        #expect(Sample.shared.storability([.cacheControl: "private, max-age=60"]).refusal == .isPrivate)
        #expect(Sample.own.storability([.cacheControl: "private, max-age=60"]).stored != nil)
    }

    @Test("A shared cache stores a response to Authorization only with public, must-revalidate or s-maxage (§3.5)")
    func authorization() {
        let request = Sample.request(.get, [.authorization: "Bearer made-up"])
        #expect(Sample.shared.storability(fresh, to: request).refusal == .authorization)
        #expect(Sample.own.storability(fresh, to: request).stored != nil)
        for directive in ["public", "must-revalidate", "s-maxage=60"] {
            #expect(
                Sample.shared.storability([.cacheControl: "max-age=60, \(directive)"], to: request).stored != nil,
                "\(directive)"
            )
        }
    }

    @Test(
        "Vary with a star anywhere is not stored, nor one that names no field",
        arguments: ["*", "*, *", ", *", "*, Foo", "Foo, *", "Foo Bar"]
    )
    func varyStar(value: String) {
        #expect(Sample.shared.storability([.cacheControl: "max-age=60", .vary: value]).refusal == .varies)
    }

    @Test("Vary with a star on a later line is not stored")
    func varyStarLines() {
        for lines in [Sample.lines(.vary, "", "*"), Sample.lines(.vary, "*", "*"), Sample.lines(.vary, "Foo", "*")] {
            #expect(Sample.shared.storability(lines).refusal == .varies)
        }
    }

    @Test("no-cache is stored if it can be validated, otherwise it is of no use")
    func noCache() {
        #expect(Sample.shared.storability([.cacheControl: "no-cache", .eTag: "\"a\""]).stored != nil)
        #expect(Sample.shared.storability([.cacheControl: "no-cache", .lastModified: Sample.date(-5)]).stored != nil)
        #expect(Sample.shared.storability([.cacheControl: "no-cache"]).refusal == .neverUsable)
    }

    @Test("A targeted field decides instead of Cache-Control (RFC 9213 §2.2)")
    func targeted() {
        #expect(Sample.shared.storability([.cacheControl: "no-store", .cdnCacheControl: "max-age=60"]).stored != nil)
        #expect(
            Sample.shared.storability([.cacheControl: "max-age=60", .cdnCacheControl: "no-store"]).refusal == .noStore
        )
        #expect(
            Sample.shared.storability([.cacheControl: "max-age=60", .cdnCacheControl: "private"]).refusal == .isPrivate
        )
    }

    @Test("The nominated request fields are kept, all their lines, and no other")
    func varyingFields() {
        var request = Sample.request(.get, [.made("Foo"): "1", .made("Other"): "x"])
        request.headerFields.append(HTTPField(name: .made("foo"), value: "2"))
        let stored = Sample.shared.storability([.vary: "foo, Foo, Bar"], to: request).stored
        #expect(stored?.varyingFields == Sample.lines(.made("Foo"), "1", "2"))
    }
}

@Suite("Fields that are not stored (RFC 9111 §3.1)")
struct CachingRulesStorableFieldsTests {
    private func kept(_ fields: HTTPFields, policy: CachingRules = Sample.shared) -> HTTPFields {
        policy.storability(fields).stored?.headerFields ?? [:]
    }

    @Test("Connection, what it names, and every hop-by-hop or proxy field are dropped")
    func hopByHop() {
        let names = [
            "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", "Trailer",
            "Proxy-Authenticate",
            "Proxy-Authorization", "Proxy-Authentication-Info", "A", "B",
        ]
        var fields: HTTPFields = [.made("C"): "3"]
        for name in names { fields[.made(name)] = name == "Connection" ? "a, B" : "1" }
        #expect(kept(fields).map(\.name) == [.made("C"), .date])
    }

    @Test("Fields that no-cache names are dropped; those that private names, from a shared cache")
    func restricted() {
        var fields: HTTPFields = [.cacheControl: "max-age=60, no-cache=\"a\", private=\"b\""]
        for name in ["a", "b", "c"] { fields[.made(name)] = "1" }
        #expect(
            !kept(fields).contains(.made("a")) && !kept(fields).contains(.made("b"))
                && kept(fields).contains(.made("c"))
        )
        #expect(
            !kept(fields, policy: Sample.own).contains(.made("a"))
                && kept(fields, policy: Sample.own).contains(.made("b"))
        )
    }

    @Test("Set-Cookie is kept for its owner and never shared")
    func setCookie() {
        #expect(!kept([.setCookie: "a=b"]).contains(.setCookie))
        #expect(kept([.setCookie: "a=b"], policy: Sample.own)[.setCookie] == "a=b")
    }

    @Test("A missing Date is added, a present one kept as it is")
    func date() {
        #expect(kept([:])[.date] == Sample.date())
        #expect(kept([.date: "foo"])[.date] == "foo")
    }

    @Test("Forwarded messages lose hop-by-hop fields; Connection removes no end-to-end field (RFC 9110 §7.6.1)")
    func removal() {
        var fields: HTTPFields = [
            .connection: "close, X-One, Cache-Control, Vary", .made("X-One"): "1", .cacheControl: "private", .vary: "*",
        ]
        fields[.upgrade] = "h2c"
        fields[.te] = "trailers"
        HopByHop.remove(from: &fields)
        #expect(fields == [.cacheControl: "private", .vary: "*"])
    }
}

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
        "Unsafe methods, and unknown ones, invalidate their target",
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
