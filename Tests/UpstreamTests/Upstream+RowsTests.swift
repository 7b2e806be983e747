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
        let reading = scene.upstream.result(ofRowsFetchedAt: fetchedAt)
        #expect(
            reading.response == nil && reading.provenance.source == .cache
                && reading.provenance.validatedAt == fetchedAt
        )
        #expect(
            !reading.provenance.offline && !reading.provenance.stale
                && reading.cacheStatus == "larder; hit; ttl=\(Int(Int32.max) - 90)"
        )
        let changeToken = try #require(reading.changeToken)
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
