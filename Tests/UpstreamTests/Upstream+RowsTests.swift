import Foundation
import NIOCore
import TestKit
import Testing

@testable import Concurrency
@testable import Freshness
@testable import Upstream

@Suite("Results from rows that are kept without an end") struct UpstreamRowsTests {
    @Test("SRV-05 Nothing is requested; age and flags are those of a copy, until the reachability changes")
    func flags() async throws {
        let scene = try Scenario()
        let fetchedAt = scene.clock.now.addingTimeInterval(-90)
        let result = scene.upstream.result(ofRowsFetchedAt: fetchedAt)
        #expect(
            result.response == nil && result.provenance.source == .upstream
                && result.provenance.validatedAt == fetchedAt
        )
        #expect(
            !result.provenance.offline && !result.provenance.stale
                && result.cacheStatus == "larder; hit; ttl=\(Int(Int32.max) - 90)"
        )
        let changeToken = try #require(result.changeToken)
        #expect(
            changeToken.deadline == nil && changeToken.age?.seconds(at: .now()) == 90 && changeToken.holds(at: .now())
        )
        #expect(scene.transport.requests.isEmpty)
        await scene.goDown()
        #expect(!changeToken.holds(at: .now()))
        let offline = scene.upstream.result(ofRowsFetchedAt: fetchedAt)
        #expect(
            offline.provenance.offline && offline.provenance.stale
                && offline.cacheStatus?.hasSuffix("; detail=offline") == true
        )
    }
}
