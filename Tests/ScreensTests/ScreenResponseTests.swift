import Foundation
import Freshness
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Testing

@testable import Screens

@Suite struct ScreenResponseTests {
    private func fields(_ provenance: Provenance) -> HTTPFields {
        var fields = HTTPFields()
        fields.add(provenance, now: ten + 90.9)
        return fields
    }

    @Test("SRV-05 Age is the age of the copy in whole seconds, 0 for what was just fetched")
    func age() {
        let stored = Provenance(
            source: .upstream,
            offline: true,
            validatedAt: ten,
            cacheStatus: CacheStatus(.hit, timeToLive: -85, detail: "offline")
        )
        #expect(fields(stored) == [.cacheStatus: "larder; hit; ttl=-85; detail=offline", .age: "90"])
        let fetched = Provenance(
            source: .upstream,
            validatedAt: ten,
            cacheStatus: CacheStatus(.forward(.uriMiss), stored: true),
            isValidatedNow: true
        )
        #expect(fields(fetched) == [.cacheStatus: "larder; fwd=uri-miss; stored", .age: "0"])
    }

    @Test("The age of a copy from the future, since clocks are set back, is its distance")
    func future() {
        let provenance = Provenance(source: .upstream, validatedAt: ten + 900, cacheStatus: CacheStatus(.hit))
        #expect(fields(provenance)[.age] == "809")
    }

    @Test("SRV-05 Local data has neither field")
    func local() {
        #expect(fields(.local) == [:])
    }
}
