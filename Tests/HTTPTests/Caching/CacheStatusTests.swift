import HTTP
import HTTPTypes
import Testing

@Suite("Cache-Status (RFC 9211)")
struct CacheStatusTests {
    @Test("Each status reads as the contract shows it")
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

    @Test("A copy used without a try names its negative freshness and the reason")
    func offline() {
        let stored = Sample.stored([.cacheControl: "max-age=10"], age: 422)
        let reuse = Sample.lastGood.reuse(of: stored, at: 0, now: Sample.now, detail: "offline")
        #expect(reuse.status.member(of: "larder") == "larder; hit; ttl=-412; detail=offline")
        #expect(reuse.age == 422)
    }

    @Test("The status follows those of caches nearer to the origin")
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

    @Test("Detail is a token if it can be one, otherwise a quoted string without what a string cannot hold")
    func detail() {
        #expect(
            CacheStatus(.hit, detail: "not \"so\" good\u{E9}").member(of: "c")
                == "c; hit; detail=\"not \\\"so\\\" good\""
        )
    }

    @Test("SRV-05 A response that the cache has made itself is neither a hit nor forwarded (RFC 9211 §2.2)")
    func generated() {
        #expect(CacheStatus(.generated, detail: "placeholder").member(of: "larder") == "larder; detail=placeholder")
    }
}
