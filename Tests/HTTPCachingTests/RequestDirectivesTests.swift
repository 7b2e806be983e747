import HTTPCaching
import HTTPTypes
import Testing

@Suite("Request directives (RFC 9111 §5.2.1, §5.4)")
struct RequestDirectivesTests {
    @Test("Pragma: no-cache counts only without Cache-Control")
    func pragma() {
        #expect(RequestDirectives([.made("Pragma"): "x, No-Cache"]).noCache)
        #expect(!RequestDirectives([.made("Pragma"): "no-cache", .cacheControl: "max-age=5"]).noCache)
        #expect(!RequestDirectives([.made("Pragma"): "unheard-of"]).noCache)
    }

    @Test("Limits that cannot be read are the strictest")
    func invalidLimits() {
        let wishes = RequestDirectives([.cacheControl: "max-age=x, min-fresh=x, max-stale=x, stale-if-error=x"])
        #expect(wishes.maxAge == 0)
        #expect(wishes.minFresh == Int.max)
        #expect(wishes.maxStale == nil)
        #expect(wishes.staleIfError == nil)
    }

    @Test("max-stale has a limit, none, or contradicts itself")
    func maxStale() {
        #expect(RequestDirectives([.cacheControl: "max-stale"]).maxStale == .unlimited)
        #expect(RequestDirectives([.cacheControl: "max-stale=10"]).maxStale == .seconds(10))
        #expect(RequestDirectives([.cacheControl: "max-stale=10, max-stale"]).maxStale == nil)
    }
}
