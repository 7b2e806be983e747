import HTTPTypes
import TestKit
import Testing

@testable import Proxy
@testable import Upstream

/// Representations that are fetched in parts.
@Suite("Mounts: ranges", .timeLimit(.minutes(10)))
struct ProxyExchangePartsTests {
    private static let length = 1 << 20
    private static let step = 128 << 10

    private func expect(
        _ played: RangeScenario.Played,
        _ range: Range<Int>,
        status: Int = 206,
        tag: String = "\"a\"",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(played.status == status, sourceLocation: sourceLocation)
        #expect(played.bytes == RangeOrigin.bytes(range, tag: tag), sourceLocation: sourceLocation)
        let part = status == 206 ? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(Self.length)" : nil
        #expect(played.fields[.contentRange] == part, sourceLocation: sourceLocation)
        #expect(played.fields[.contentLength] == String(range.count), sourceLocation: sourceLocation)
    }

    @Test("SRV-07 A large file that a player fetches in ranges is fetched once")
    func player() async throws {
        let it = try RangeScenario(length: Self.length)
        // The player looks at the beginning, stops, and reads the index at the end.
        try await it.play("0-", upTo: 2 * RangeOrigin.partBytes)
        try await it.partsAre([0..<(2 * RangeOrigin.partBytes)])
        expect(try await it.play("-100000"), (Self.length - 100_000)..<Self.length)
        // It seeks, goes on from there, and back.
        for number in [5, 6, 7, 1, 0, 2, 3, 4] {
            let range = (number * Self.step)..<((number + 1) * Self.step)
            expect(try await it.play("\(range.lowerBound)-\(range.upperBound - 1)"), range)
        }
        #expect(it.origin.state.value.taken == Self.length)
        let again = try await it.play("70000-700000")
        expect(again, 70_000..<700_001)
        #expect(again.cacheStatus == "larder; hit; ttl=600")
        expect(try await it.play(nil), 0..<Self.length, status: 200)
        #expect(it.origin.state.value.taken == Self.length)
        #expect(try it.parts == [0..<Self.length] && it.it.storedCount == 1)
    }

    @Test("SRV-07 Of a range that is stored in part, only the rest is requested, if it is the same version")
    func rest() async throws {
        let it = try RangeScenario(length: Self.length)
        try await it.play("100-199")
        let joined = try await it.play("50-299")
        // Two gaps: as the client asked.
        expect(joined, 50..<300)
        #expect(it.origin.state.value.requests.last?[.range] == "bytes=50-299")
        let rest = try await it.play("200-399")
        expect(rest, 200..<400)
        #expect(rest.cacheStatus == "larder; fwd=partial; fwd-status=206; stored")
        let last = try #require(it.origin.state.value.requests.last)
        #expect(last[.range] == "bytes=300-399" && last[.ifRange] == "\"a\"")
        #expect(try it.parts == [50..<400])
    }

    @Test("SRV-07 Parts of two versions are never mixed")
    func versions() async throws {
        let it = try RangeScenario(length: Self.length)
        try await it.play("0-199999")
        it.origin.state.update { $0.tag = "\"b\"" }
        // Fresh, as a whole would be.
        expect(try await it.play("0-99999"), 0..<100_000)
        expect(try await it.play("500000-599999"), 500_000..<600_000, tag: "\"b\"")
        #expect(try it.parts == [500_000..<600_000])
        it.origin.state.update { $0.tag = "\"c\"" }
        expect(try await it.play("550000-649999"), 0..<Self.length, status: 200, tag: "\"c\"")
        #expect(try it.parts == [])
        expect(try await it.play("550000-649999"), 550_000..<650_000, tag: "\"c\"")
        #expect(it.origin.state.value.requests.count == 3)
    }

    @Test("SRV-07 What has arrived of a whole that breaks off is kept, and only the rest is fetched")
    func brokenOff() async throws {
        let it = try RangeScenario(length: Self.length)
        it.origin.state.update { $0.breaksAfter = 3 * RangeOrigin.partBytes }
        await #expect(throws: UpstreamError.self) { try await it.play(nil) }
        try await it.partsAre([0..<(3 * RangeOrigin.partBytes)])
        it.origin.state.update { $0.breaksAfter = .max }
        expect(try await it.play(nil), 0..<Self.length, status: 200)
        #expect(it.origin.state.value.taken == Self.length)
        #expect(it.origin.state.value.requests.last?[.range] == "bytes=196608-1048575")
    }

    @Test("SRV-07 Stale parts are validated, and serve while the upstream is out of reach")
    func stale() async throws {
        let it = try RangeScenario(length: Self.length)
        try await it.play("0-199999")
        it.it.scene.clock.advance(by: .seconds(601))
        let validated = try await it.play("1000-1999")
        expect(validated, 1000..<2000)
        #expect(validated.cacheStatus == "larder; fwd=stale; fwd-status=304")
        #expect(it.origin.state.value.requests.last?[.ifNoneMatch] == "\"a\"")
        #expect(try await it.play("1000-1999").cacheStatus == "larder; hit; ttl=600")
        #expect(it.origin.state.value.taken == 200_000)
    }

    @Test("SRV-07 Nothing is stored of what would be too large as a whole")
    func tooLarge() async throws {
        let it = try RangeScenario(length: Self.length, MountOptions(maximumStoredBytes: Self.length - 1))
        expect(try await it.play("0-99999"), 0..<100_000)
        #expect(try it.it.storedCount == 0)
    }

    @Test("SRV-07 A stored whole serves ranges, and no part replaces it")
    func whole() async throws {
        let it = try RangeScenario(length: Self.length)
        try await it.play(nil)
        expect(try await it.play("5-9"), 5..<10)
        it.it.scene.clock.advance(by: .seconds(601))
        it.origin.state.update { $0.tag = "\"b\"" }
        expect(try await it.play("5-9"), 5..<10, tag: "\"b\"")
        #expect(try it.parts == [] && it.it.storedCount == 1)
    }
}
