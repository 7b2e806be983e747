import Foundation
import NIOCore
import Testing

@testable import Upstream

@Suite("Answers from rows that are kept for ever") struct RowsTests {
    @Test("SRV-05 Nobody is asked; age and flags are those of a copy, and hold until the upstream goes or comes")
    func flags() async throws {
        let scene = try Scene()
        let fetchedAt = scene.clock.now.addingTimeInterval(-90)
        let reading = scene.upstream.reading(ofRowsFetchedAt: fetchedAt)
        #expect(
            reading.answer == nil && reading.provenance.source == .cache && reading.provenance.fetchedAt == fetchedAt
        )
        #expect(
            !reading.provenance.offline && !reading.provenance.stale
                && reading.cacheStatus == "larder; hit; ttl=\(Int(Int32.max) - 90)"
        )
        let validity = try #require(reading.validity)
        #expect(validity.deadline == nil && validity.age?.seconds(at: .now()) == 90 && validity.holds(at: .now()))
        #expect(scene.transport.requests.isEmpty)
        await scene.goDown()
        #expect(!validity.holds(at: .now()))
        let offline = scene.upstream.reading(ofRowsFetchedAt: fetchedAt)
        #expect(
            offline.provenance.offline && offline.provenance.stale
                && offline.cacheStatus?.hasSuffix("; detail=offline") == true
        )
    }
}
