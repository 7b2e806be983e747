import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@Suite("Stale responses (RFC 9111 §4.2.4, RFC 5861)")
struct FallbackTests {
    private func stored(_ directives: String, status: HTTPResponse.Status = .ok) -> CachedResponseHead {
        Sample.stored([.cacheControl: "max-age=10\(directives)", .eTag: "\"a\""], age: 20, status: status)
    }

    @Test("stale-while-revalidate serves within its window and validates in the background (RFC 5861 §3)")
    func staleWhileRevalidate() {
        let served = Sample.shared.decision(for: stored(", stale-while-revalidate=10")).served
        #expect(served?.revalidation?.condition.ifNoneMatch == "\"a\"")
        #expect(served?.status.member(of: "larder") == "larder; hit; ttl=-10")
        #expect(Sample.shared.decision(for: stored(", stale-while-revalidate=9")).served == nil)
        #expect(Sample.shared.decision(for: stored(", stale-while-revalidate=x")).served == nil)
    }

    @Test("stale-while-revalidate yields to prohibitions and to the directives of the client")
    func staleWhileRevalidateForbidden() {
        for directive in ["must-revalidate", "proxy-revalidate", "s-maxage=10", "no-cache"] {
            #expect(
                Sample.shared.decision(for: stored(", stale-while-revalidate=60, \(directive)")).served == nil,
                "\(directive)"
            )
        }
        for wish in ["no-cache", "max-age=5", "min-fresh=1"] {
            #expect(
                Sample.shared.decision([.cacheControl: wish], for: stored(", stale-while-revalidate=60")).served == nil,
                "\(wish)"
            )
        }
        let offline = Sample.shared.decision(
            [.cacheControl: "only-if-cached"],
            for: stored(", stale-while-revalidate=60")
        ).served
        #expect(offline != nil && offline?.revalidation == nil)
    }

    @Test("stale-if-error permits a stale response within its window, from either side (RFC 5861 §4)")
    func staleIfError() {
        func fallback(_ directives: String, _ request: HTTPFields = [:]) -> Fallback? {
            Sample.shared.decision(request, for: stored(directives)).validation?.fallback
        }
        #expect(fallback("") == [])
        #expect(fallback(", stale-if-error=10") == [.unreachable, .serverError])
        #expect(fallback(", stale-if-error=9") == [])
        #expect(fallback("", [.cacheControl: "stale-if-error=10"]) == [.unreachable, .serverError])
        #expect(fallback(", must-revalidate, stale-if-error=60") == [])
    }

    @Test("The last good response is allowed unless it forbids that itself")
    func lastGood() {
        func fallback(_ directives: String, status: HTTPResponse.Status = .ok) -> Fallback? {
            Sample.lastGood.decision(for: stored(directives, status: status)).validation?.fallback
        }
        #expect(fallback("")?.contains(.unreachable) == true)
        #expect(fallback("", status: .notFound)?.contains(.unreachable) == true)
        #expect(fallback("", status: .serviceUnavailable) == [])
        for directive in ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=2"] {
            #expect(fallback(", \(directive)") == [], "\(directive)")
        }
        #expect(
            Sample.lastGood.decision([.cacheControl: "no-cache"], for: stored("")).validation?.fallback.contains(
                .unreachable
            ) == true
        )
    }

    @Test("Which statuses are failures: four by stale-if-error, all 5xx and 429 for the last good response")
    func failures() {
        let declared: Fallback = [.unreachable, .serverError]
        #expect([200, 404, 429, 500, 501, 502, 503, 504, 599].filter(declared.covers) == [500, 502, 503, 504])
        #expect([200, 404, 429, 500, 501, 599].filter(Fallback.anyRefusal.covers) == [429, 500, 501, 599])
        #expect(!Fallback.unreachable.covers(status: 503))
    }
}
