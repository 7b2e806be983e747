import Foundation
import HTTPCaching
import HTTPSemantics
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

    @Test(
        "A response to POST is one to GET if it has freshness and its own URI as Content-Location (RFC 9110 §9.3.3)"
    )
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

    @Test("A body shorter or longer than declared makes the response incomplete (§3.3)")
    func completeness() {
        #expect(Sample.stored([.contentLength: "5"]).isComplete(bodyLength: 5))
        #expect(!Sample.stored([.contentLength: "5"]).isComplete(bodyLength: 4))
        #expect(!Sample.stored([.contentLength: "5"]).isComplete(bodyLength: 6))
        #expect(Sample.stored([:]).isComplete(bodyLength: 4))
    }

    @Test("The nominated request fields are kept, all their lines, and no other")
    func varyingFields() {
        var request = Sample.request(.get, [.made("Foo"): "1", .made("Other"): "x"])
        request.headerFields.append(HTTPField(name: .made("foo"), value: "2"))
        let stored = Sample.shared.storability([.vary: "foo, Foo, Bar"], to: request).stored
        #expect(stored?.varyingFields == Sample.lines(.made("Foo"), "1", "2"))
    }
}
