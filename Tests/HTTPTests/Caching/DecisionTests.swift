import Foundation
import HTTP
import HTTPTypes
import Testing

@Suite("Decisions on a request (RFC 9111 §4)")
struct DecisionTests {
    private let fresh = Sample.stored([.cacheControl: "max-age=60", .eTag: "\"a\""], age: 20)
    private let stale = Sample.stored([.cacheControl: "max-age=10", .eTag: "\"a\""], age: 20)

    @Test("A fresh response is served with its age and remaining freshness, to HEAD too")
    func servedWhileFresh() {
        let served = Sample.shared.decision(for: fresh).served
        #expect(served?.age == 20)
        #expect(served?.status.member(of: "larder") == "larder; hit; ttl=40")
        #expect(Sample.shared.decision(for: Sample.request(.head), candidates: [fresh], now: Sample.now).served != nil)
    }

    @Test("A stale response is validated, one without any lifetime as well")
    func validatedWhenStale() {
        #expect(Sample.shared.decision(for: stale).validation?.condition.ifNoneMatch == "\"a\"")
        #expect(Sample.shared.decision(for: stale).validation?.reason == .stale)
        #expect(Sample.shared.decision(for: Sample.stored([:])).validation?.condition.ifNoneMatch == nil)
    }

    @Test("Nothing stored is a uri-miss; other methods are forwarded because of their method")
    func markDirty() {
        #expect(Sample.shared.decision() == .forward(.uriMiss))
        for method in [HTTPRequest.Method.post, .put, .delete, .options] {
            #expect(
                Sample.shared.decision(for: Sample.request(method), candidates: [fresh], now: Sample.now)
                    == .forward(.method)
            )
        }
    }

    @Test("no-cache in the response demands validation even while fresh")
    func responseNoCache() {
        let stored = Sample.stored([.cacheControl: "max-age=10000, No-CaChE", .eTag: "\"a\""])
        #expect(Sample.shared.decision(for: stored).validation?.reason == .stale)
        #expect(Sample.shared.decision([.cacheControl: "max-stale"], for: stored).validation != nil)
        #expect(
            Sample.shared.decision(for: Sample.stored([.cacheControl: "max-age=10000, no-cache=\"a\""])).served != nil
        )
    }

    @Test("The request's no-cache and its Pragma demand validation (§5.2.1.4, §5.4)")
    func requestNoCache() {
        #expect(Sample.shared.decision([.cacheControl: "no-cache"], for: fresh).validation?.reason == .request)
        #expect(Sample.shared.decision([.made("Pragma"): "no-cache"], for: fresh).validation?.reason == .request)
        #expect(Sample.shared.decision([.cacheControl: "no-cache"], for: stale).validation?.reason == .stale)
    }

    @Test("The request's max-age bounds the age (§5.2.1.1)")
    func requestMaxAge() {
        #expect(
            Sample.shared.decision([.cacheControl: "max-age=0"], for: Sample.stored([.cacheControl: "max-age=60"]))
                .validation?.reason == .request
        )
        #expect(Sample.shared.decision([.cacheControl: "max-age=19"], for: fresh).validation?.reason == .request)
        #expect(Sample.shared.decision([.cacheControl: "max-age=21"], for: fresh).served != nil)
        #expect(
            Sample.shared.decision(
                [.cacheControl: "max-age=600"],
                for: Sample.stored([.cacheControl: "max-age=3600", .age: "1800"])
            ).served == nil
        )
    }

    @Test("min-fresh asks for freshness to come, counting the received Age (§5.2.1.3)")
    func minFresh() {
        #expect(Sample.shared.decision([.cacheControl: "min-fresh=40"], for: fresh).served != nil)
        #expect(Sample.shared.decision([.cacheControl: "min-fresh=41"], for: fresh).validation?.reason == .request)
        let aged = Sample.stored([.cacheControl: "max-age=1500", .age: "1000"])
        #expect(Sample.shared.decision([.cacheControl: "min-fresh=1000"], for: aged).served == nil)
    }

    @Test("max-stale takes a stale response within its bound (§5.2.1.2)")
    func maxStale() {
        #expect(Sample.shared.decision([.cacheControl: "max-stale=10"], for: stale).served?.status.timeToLive == -10)
        #expect(Sample.shared.decision([.cacheControl: "max-stale=9"], for: stale).served == nil)
        #expect(Sample.shared.decision([.cacheControl: "max-stale"], for: stale).served != nil)
        #expect(Sample.shared.decision([.cacheControl: "max-stale=oops"], for: stale).served == nil)
        #expect(Sample.shared.decision([.cacheControl: "max-age=15, max-stale=10"], for: fresh).served != nil)
        #expect(Sample.shared.decision([.cacheControl: "max-age=15, max-stale=4"], for: fresh).served == nil)
    }

    @Test(
        "max-stale does not apply to a response that forbids staleness",
        arguments: ["must-revalidate", "proxy-revalidate", "s-maxage=10", "no-cache"]
    )
    func maxStaleForbidden(directive: String) {
        let stored = Sample.stored([.cacheControl: "max-age=10, \(directive)", .eTag: "\"a\""], age: 20)
        #expect(Sample.shared.decision([.cacheControl: "max-stale"], for: stored).served == nil)
    }

    @Test("proxy-revalidate and s-maxage bind shared caches only")
    func sharedOnly() {
        for directive in ["proxy-revalidate", "s-maxage=10"] {
            let stored = Sample.stored([.cacheControl: "max-age=10, \(directive)"], age: 20)
            #expect(Sample.own.decision([.cacheControl: "max-stale"], for: stored).served != nil)
        }
    }

    @Test("must-revalidate lets a fresh response be used")
    func mustRevalidateFresh() {
        #expect(
            Sample.shared.decision(for: Sample.stored([.cacheControl: "max-age=60, must-revalidate"])).served != nil
        )
    }

    @Test("only-if-cached is served from the store or by 504 (§5.2.1.7)")
    func onlyIfCached() {
        let only: HTTPFields = [.cacheControl: "only-if-cached"]
        #expect(Sample.shared.decision(only) == .gatewayTimeout(nil))
        #expect(Sample.shared.decision(only, for: fresh).served != nil)
        #expect(Sample.shared.decision(only, for: stale) == .gatewayTimeout(nil))
        #expect(Sample.shared.decision([.cacheControl: "only-if-cached, max-stale"], for: stale).served != nil)
        #expect(Sample.shared.decision([.cacheControl: "only-if-cached, no-cache"], for: fresh) == .gatewayTimeout(nil))
        guard case .gatewayTimeout(let validation?) = Sample.lastGood.decision(only, for: stale) else {
            Issue.record("TRUST-07: a stale response is for a disconnected cache only (§4.2.4)")
            return
        }
        #expect(validation.fallback.contains(.unreachable))
        #expect(
            Sample.lastGood.decision([.cacheControl: "only-if-cached, no-cache"], for: stale) == .gatewayTimeout(nil)
        )
    }

    @Test("The request's no-store is forwarded without the cache's preconditions (§5.2.1.5)")
    func requestNoStore() {
        #expect(Sample.shared.decision([.cacheControl: "no-store"], for: fresh) == .forward(.request))
        #expect(Sample.shared.decision([.cacheControl: "no-store"], for: stale) == .forward(.stale))
    }

    @Test("If-Match and If-Unmodified-Since are left to the origin (§4.3.2)")
    func originPreconditions() {
        #expect(Sample.shared.decision([.ifMatch: "\"a\""], for: fresh) == .forward(.request))
        #expect(Sample.shared.decision([.ifUnmodifiedSince: Sample.date()], for: fresh) == .forward(.request))
    }

    @Test("A freshness override makes a response fresh or stale, but lifts no prohibition")
    func override() {
        let policy = CachingRules(cacheName: "larder", freshnessOverride: .seconds(5))
        #expect(
            policy.decision(for: Sample.stored([.cacheControl: "max-age=0"], age: 4)).served?.status.timeToLive == 1
        )
        #expect(
            policy.decision(for: Sample.stored([.cacheControl: "max-age=600"], age: 6)).validation?.reason == .stale
        )
        #expect(policy.decision(for: Sample.stored([.cacheControl: "no-cache"], age: 1)).served == nil)
    }
}
