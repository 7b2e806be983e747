import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@testable import Concurrency
@testable import Freshness
@testable import Upstream

struct ProvenanceStoredTests {
    private let noon = Date(timeIntervalSince1970: 1_767_700_000)

    private func serveStale(_ error: UpstreamError) -> Provenance? {
        .serveStale(for: error, storedAt: noon, because: .stale)
    }

    @Test(
        "SRV-05 A copy in place of an unreachable upstream: offline, and so stale",
        arguments: UnreachableReason.allCases
    )
    func unreachable(reason: UnreachableReason) throws {
        let provenance = try #require(serveStale(.unreachable(reason)))
        #expect(
            provenance.offline && provenance.stale && provenance.source == .upstream && provenance.validatedAt == noon
        )
        #expect(provenance.cacheStatus?.member(of: "larder") == "larder; fwd=stale; detail=unreachable")
    }

    @Test("SRV-05 A copy in place of a failing upstream: stale and not offline", arguments: [429, 500, 503])
    func failing(status: Int) throws {
        let provenance = try #require(serveStale(.failing(status: .init(code: status), retryAfter: nil)))
        #expect(provenance.stale && !provenance.offline)
        #expect(
            provenance.cacheStatus?.member(of: "larder")
                == "larder; fwd=stale; fwd-status=\(status); detail=stale-if-error"
        )
    }

    @Test("A copy in place of an unusable response")
    func badResponse() throws {
        let provenance = try #require(serveStale(.badResponse(status: .ok, reason: "not JSON")))
        #expect(provenance.stale && !provenance.offline)
        #expect(
            provenance.cacheStatus?.member(of: "larder") == "larder; fwd=stale; fwd-status=200; detail=bad-response"
        )
    }

    @Test("TRUST-06 A copy in place of a redirect to a host that is not allowed, as captive portals send")
    func forbiddenTarget() throws {
        let provenance = try #require(serveStale(.forbiddenTarget("host evil.test")))
        #expect(provenance.stale && !provenance.offline)
        #expect(provenance.cacheStatus?.member(of: "larder") == "larder; fwd=stale; detail=bad-response")
    }

    @Test("News is never hidden", arguments: [401, 403, 404, 410, 422])
    func news(status: Int) {
        #expect(serveStale(.rejected(status: .init(code: status), body: [])) == nil)
        #expect(serveStale(.notStored) == nil)
    }

    @Test("Offline implies stale, however it is made")
    func offlineImpliesStale() {
        #expect(Provenance(source: .upstream, offline: true, stale: false).stale)
        #expect(!Provenance.local.stale && !Provenance.local.offline && Provenance.local.cacheStatus == nil)
    }
}
