import Foundation
import HTTP
import HTTPTypes
import Testing

@Suite("Freshness lifetime (RFC 9111 §4.2.1, §4.2.2)")
struct FreshnessTests {
    private func lifetime(_ fields: HTTPFields, policy: CachingRules = Sample.shared, status: HTTPResponse.Status = .ok)
        -> Double
    {
        policy.freshness(of: Sample.stored(fields, status: status), at: Sample.now).lifetime
    }

    @Test("s-maxage precedes max-age precedes Expires; a private cache knows no s-maxage")
    func precedence() {
        let fields: HTTPFields = [.cacheControl: "max-age=20, s-maxage=10", .expires: Sample.date(30)]
        #expect(lifetime(fields) == 10)
        #expect(lifetime(fields, policy: Sample.own) == 20)
        #expect(lifetime([.expires: Sample.date(30)]) == 30)
        #expect(lifetime([.cacheControl: "max-age=0, s-maxage=3600", .expires: Sample.date(-10)]) == 3600)
    }

    @Test("An invalid or contradictory max-age leaves no freshness, even with a future Expires")
    func invalidMaxAge() {
        #expect(lifetime([.cacheControl: "max-age=abc", .expires: Sample.date(30)]) == 0)
        #expect(lifetime([.cacheControl: "max-age=1, max-age=2", .expires: Sample.date(30)]) == 0)
        #expect(lifetime([.cacheControl: "s-maxage=x, max-age=9"]) == 0)
    }

    @Test("max-age beats an Expires that is past or no date")
    func maxAgeBeatsExpires() {
        #expect(lifetime([.cacheControl: "max-age=60", .expires: Sample.date(-7200)]) == 60)
        #expect(lifetime([.cacheControl: "max-age=60", .expires: "0"]) == 60)
    }

    @Test("Expires that is no date, past, now, older than Date or given twice is past")
    func expired() {
        #expect(lifetime([.expires: "0"]) == 0)
        #expect(lifetime([.expires: Sample.date(-1)]) == 0)
        #expect(lifetime([.expires: Sample.date()]) == 0)
        #expect(lifetime([.expires: Sample.date(300), .date: Sample.date(400)]) == 0)
        #expect(lifetime(Sample.lines(.expires, Sample.date(300), Sample.date(300))) == 0)
    }

    @Test("Expires counts from Date, or from reception if Date is absent or no date")
    func expiresBase() {
        #expect(lifetime([.expires: Sample.date(10), .date: Sample.date(-10)]) == 20)
        #expect(lifetime([.expires: Sample.date(10), .date: "foo"]) == 10)
    }

    @Test("No lifetime is estimated unless configured; then ten per cent of the time since modification, at most a day")
    func heuristics() {
        let guessing = CachingRules(cacheName: "larder", heuristics: .tenPercent)
        #expect(lifetime([.lastModified: Sample.date(-1000)]) == 0)
        #expect(lifetime([.lastModified: Sample.date(-1000)], policy: guessing) == 100)
        #expect(lifetime([.lastModified: Sample.date(-100_000_000)], policy: guessing) == 86_400)
        #expect(lifetime([.lastModified: Sample.date(50)], policy: guessing) == 0)
        #expect(lifetime([:], policy: guessing) == 0)
        #expect(lifetime([.lastModified: Sample.date(-1000), .expires: "0"], policy: guessing) == 0)
    }

    @Test(
        "A guess is made only for statuses that allow it, or with public",
        arguments: [201, 202, 302, 403, 500, 502, 503, 504, 599]
    )
    func heuristicStatus(code: Int) {
        let guessing = CachingRules(cacheName: "larder", heuristics: .tenPercent)
        let modified = Sample.date(-1000)
        #expect(lifetime([.lastModified: modified], policy: guessing, status: .init(code: code)) == 0)
        #expect(
            lifetime([.lastModified: modified, .cacheControl: "public"], policy: guessing, status: .init(code: code))
                == 100
        )
    }

    @Test("An override counts from reception, regardless of Age, and leaves errors alone")
    func override() {
        let policy = CachingRules(cacheName: "larder", freshnessOverride: .milliseconds(5_500))
        let stored = Sample.stored([.age: "300", .cacheControl: "max-age=0"], age: 5)
        #expect(policy.freshness(of: stored, at: Sample.now) == Freshness(lifetime: 5.5, age: 5))
        #expect(lifetime([:], policy: policy, status: 500) == 0)
        let forEver = CachingRules(cacheName: "larder", freshnessOverride: .seconds(Int64.max))
        #expect(forEver.freshness(of: stored, at: Sample.now).timeToLive == 2_147_483_643)
    }

    @Test("ttl is the remaining freshness in whole seconds, negative when stale")
    func timeToLive() {
        #expect(Freshness(lifetime: 10, age: 3.5).timeToLive == 7)
        #expect(Freshness(lifetime: 10, age: 422.9).timeToLive == -412)
        #expect(!Freshness(lifetime: 10, age: 10).isFresh)
    }
}
