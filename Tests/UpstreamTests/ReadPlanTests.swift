import Foundation
import HTTP
import HTTPTypes
import Testing

@testable import Upstream

/// The table of docs/architecture.md, "The plan of a read", row by row.
struct ReadPlanTests {
    private static let patience = Duration.seconds(2)
    private static let freshCopy = ReadPlan.Stored.copy(timeToLive: 24, isFresh: true)
    private static let staleCopy = ReadPlan.Stored.copy(timeToLive: -412, isFresh: false)
    private static let bundledCopy = ReadPlan.Stored.bundled(age: 99)

    private static func plan(
        _ stored: ReadPlan.Stored,
        _ cachePolicy: CachePolicy = .useCache,
        reachable: Bool = true,
        paused: Int? = nil
    ) -> ReadPlan {
        .plan(stored: stored, cachePolicy: cachePolicy, isReachable: reachable, paused: paused, patience: patience)
    }

    @Test("Without a copy the upstream is asked, if it is not known to be away, and there is nothing to be patient for")
    func nothingStored() {
        for reachable in [true, false] {
            #expect(Self.plan(.nothing, .revalidate, reachable: reachable) == .ask(because: .uriMiss, patience: nil))
        }
        #expect(Self.plan(.nothing) == .ask(because: .uriMiss, patience: nil))
        #expect(Self.plan(.nothing, reachable: false) == .unreachable)
        #expect(Self.plan(.nothing, reachable: false, paused: 7) == .unreachable)
        #expect(Self.plan(.nothing, .useCache, paused: 7) == .leaveAlone(seconds: 7))
        #expect(Self.plan(.nothing, .revalidate, paused: 7) == .ask(because: .uriMiss, patience: nil))
    }

    @Test(
        "only-if-cached never sends a request: a copy of any age, or not stored",
        arguments: [true, false],
        [nil, 7]
    )
    func onlyIfCached(reachable: Bool, paused: Int?) {
        #expect(Self.plan(.nothing, .onlyIfCached, reachable: reachable, paused: paused) == .notStored)
        #expect(Self.plan(Self.bundledCopy, .onlyIfCached, reachable: reachable, paused: paused) == .notStored)
        for stored in [Self.freshCopy, Self.staleCopy] {
            guard
                case .serveStored(_, let offline, _) = Self.plan(
                    stored,
                    .onlyIfCached,
                    reachable: reachable,
                    paused: paused
                )
            else {
                Issue.record("asked the upstream")
                return
            }
            #expect(offline == !reachable)
        }
        let expected = ReadPlan.serveStored(CacheStatus(.hit, timeToLive: -412), offline: false, stale: true)
        #expect(Self.plan(Self.staleCopy, .onlyIfCached) == expected)
    }

    @Test("A fresh copy is served at once, also during a pause", arguments: [nil, 7])
    func fresh(paused: Int?) {
        #expect(
            Self.plan(Self.freshCopy, paused: paused)
                == .serveStored(CacheStatus(.hit, timeToLive: 24), offline: false, stale: false)
        )
    }

    @Test("A stale copy is asked about, within the patience")
    func stale() {
        #expect(Self.plan(Self.staleCopy) == .ask(because: .stale, patience: Self.patience))
        #expect(Self.plan(Self.bundledCopy) == .ask(because: .uriMiss, patience: Self.patience))
    }

    @Test("During a pause a stale copy is served, stale and not offline")
    func paused() {
        let expected = ReadPlan.serveStored(
            CacheStatus(.hit, timeToLive: -412, detail: "retry-after"),
            offline: false,
            stale: true
        )
        #expect(Self.plan(Self.staleCopy, paused: 7) == expected)
    }

    @Test(
        "SRV-05 Known to be offline, every copy is served untried and flagged",
        arguments: [
            ReadPlan.Stored.copy(timeToLive: 24, isFresh: true), .copy(timeToLive: -412, isFresh: false),
            .bundled(age: 99),
        ]
    )
    func knownOffline(stored: ReadPlan.Stored) {
        guard case .serveStored(let status, offline: true, stale: true) = Self.plan(stored, reachable: false) else {
            Issue.record("not flagged")
            return
        }
        #expect(status.handling == .hit)
        #expect(status.detail == "offline")
    }

    @Test("refresh always tries: offline, left alone, fresh or stale", arguments: [true, false], [nil, 7])
    func refresh(reachable: Bool, paused: Int?) {
        #expect(
            Self.plan(Self.freshCopy, .revalidate, reachable: reachable, paused: paused)
                == .ask(because: .request, patience: Self.patience)
        )
        #expect(
            Self.plan(Self.staleCopy, .revalidate, reachable: reachable, paused: paused)
                == .ask(because: .stale, patience: Self.patience)
        )
        #expect(
            Self.plan(Self.bundledCopy, .revalidate, reachable: reachable, paused: paused)
                == .ask(because: .uriMiss, patience: Self.patience)
        )
    }
}

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
