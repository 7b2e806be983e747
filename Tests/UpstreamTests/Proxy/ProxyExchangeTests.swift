import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

@Suite("Mounts: invalidation", .timeLimit(.minutes(10)))
struct ProxyExchangeEffectsTests {
    private let it: MountScenario
    private let gate = Gate()

    init() throws {
        it = try MountScenario(MountOptions(methods: [.get, .head, .put, .post]))
    }

    private func fresh(_ body: String, _ fields: HTTPFields = [:]) -> ScriptedTransport.Step {
        response(.ok, body, fields: it.fields("max-age=60", fields))
    }

    @Test("SRV-07 A response that was under way during a write is no hit afterwards, nor collapsed with later requests")
    func overtaken() async throws {
        it.scene.transport.then(held(by: gate, fresh("old")), response(.ok, "written"), fresh("new"))
        let before = Task { try await it.ask() }
        await it.scene.transport.requests(1)
        try await it.ask(.put, "/thing", body: "x")
        let after = Task { try await it.ask() }
        // So that it boards the flight of the first one, if anything lets it.
        for _ in 0..<200 { await Task.yield() }
        gate.open()
        #expect(try await before.value.body == "old")
        #expect(try await after.value.body == "new")
        #expect(try await it.ask().body == "new")
    }

    @Test("SRV-07 A write's own response that may be stored is not invalidated by the write")
    func ownResponse() async throws {
        it.scene.transport.then(fresh("old"), fresh("made", [.contentLocation: "/thing"]))
        try await it.ask()
        try await it.ask(.post, "/thing", body: "x")
        let hit = try await it.ask()
        #expect(hit.body == "made" && hit.cacheStatus == "larder; hit; ttl=60")
    }

    @Test("SRV-07 A 304 that was on its way while a write was done confirms nothing")
    func overtakenConfirmation() async throws {
        it.scene.transport.then(
            fresh("old", [.eTag: "\"a\""]),
            held(by: gate, response(.notModified, fields: it.fields("max-age=60", [.eTag: "\"a\""]))),
            response(.ok, "written"),
            fresh("new", [.eTag: "\"b\""])
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(61))
        let before = Task { try await it.ask() }
        await it.scene.transport.requests(2)
        try await it.ask(.put, "/thing", body: "x")
        gate.open()
        #expect(try await before.value.body == "old")
        #expect(try await it.ask().body == "new")
    }

    @Test(
        "SRV-07 After another response that is not stored, the stored one is no hit, but the last good one",
        arguments: [HTTPResponse.Status.ok, .forbidden, .found]
    )
    func superseded(status: HTTPResponse.Status) async throws {
        it.scene.transport.then(fresh("old"), response(status, "seen", fields: it.fields("no-store")), fresh("new"))
        try await it.ask()
        let hit = try #require(
            try await it.mount.respond(to: MountRequest(method: .get, target: "/thing", headerFields: [:])).changeToken
        )
        #expect(try await it.ask(.get, "/thing", [.cacheControl: "no-cache"]).body == "seen")
        #expect(!hit.holds(at: .now()))
        #expect(try await it.ask().body == "new")

        it.scene.transport.then(response(status, "seen", fields: it.fields("no-store")))
        try await it.ask(.get, "/thing", [.cacheControl: "no-cache"])
        it.scene.transport.always(failure(.unreachable(.refused)))
        let lastGood = try await it.ask()
        #expect(lastGood.body == "new" && lastGood.isOffline)
    }

    @Test("SRV-07 A response that says nothing of the whole leaves the stored one fresh", arguments: [206, 412, 416])
    func notSuperseded(code: Int) async throws {
        it.scene.transport.then(fresh("whole"), response(.init(code: code), "part", fields: it.fields("no-store")))
        try await it.ask()
        #expect(try await it.ask(.get, "/thing", [.cacheControl: "no-cache", .range: "bytes=0-3"]).body == "part")
        #expect(try await it.ask().cacheStatus == "larder; hit; ttl=60")
    }

    @Test("SRV-07 A HEAD that shows another version invalidates the stored response, which stays the last good one")
    func head() async throws {
        it.scene.transport.then(fresh("old", [.eTag: "\"a\""]), fresh("", [.eTag: "\"b\""]))
        try await it.ask()
        try await it.ask(.head, "/thing", [.cacheControl: "no-cache"])
        it.scene.transport.always(failure(.unreachable(.refused)))
        let lastGood = try await it.ask()
        #expect(lastGood.body == "old" && lastGood.isOffline && it.scene.transport.count == 3)
    }

    @Test("SRV-07 After a write, a HEAD that says nothing of the version ends no doubt")
    func headWithoutValidators() async throws {
        it.scene.transport.then(fresh("old"), response(.ok, "written"), fresh(""), fresh("new"))
        try await it.ask()
        try await it.ask(.put, "/thing", body: "x")
        try await it.ask(.head)
        #expect(try await it.ask().body == "new")
    }
}

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
        // It seeks, continues from there, and seeks back.
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

@Suite("Mounts: bodies in parts", .timeLimit(.minutes(10)))
struct ProxyExchangePassingTests {
    /// Two hundred kilobytes: a file in the store.
    static let large = String(repeating: "0123456789", count: 20_000)

    @Test("SRV-07 A large body is stored while it passes, and parts of it are read from its file")
    func largeBody() async throws {
        let it = try MountScenario()
        it.scene.transport.then(response(.ok, Self.large, fields: it.fields("max-age=60", [.contentLength: "200000"])))
        #expect(try await it.ask().body == Self.large)
        let again = try await it.ask()
        #expect(again.body == Self.large && again.cacheStatus == "larder; hit; ttl=60")
        #expect(try await it.ask(.get, "/thing", [.range: "bytes=-5"]).body == "56789")
    }

    @Test("SRV-07 A body that is larger than may be stored passes all the same", arguments: [true, false])
    func tooLarge(isAnnounced: Bool) async throws {
        let it = try MountScenario(MountOptions(maximumStoredBytes: 150_000))
        let fields = it.fields("max-age=60", isAnnounced ? [.contentLength: "200000"] : [:])
        it.scene.transport.always(response(.ok, Self.large, fields: fields))
        #expect(try await it.ask().body == Self.large)
        #expect(try it.storedCount == 0)
    }

    @Test(
        "SRV-07 A body that breaks off is not stored, whichever its length was to be",
        arguments: [nil, "9", "200000"]
    )
    func truncated(announced: String?) async throws {
        let it = try MountScenario()
        it.scene.transport.then(
            response(.ok, "short", fields: it.fields("max-age=60", announced.map { [.contentLength: $0] } ?? [:]))
        )
        let seen = try? await it.ask()
        // Without an announcement the end of the message is its end.
        #expect(try it.storedCount == (announced == nil ? 1 : 0))
        #expect((seen == nil) == (announced == "9"))
    }

    @Test("SRV-07 A client that does not read holds nothing up and stores nothing")
    func abandoned() async throws {
        let it = try MountScenario()
        it.scene.transport.always(response(.ok, Self.large, fields: it.fields("max-age=60")))
        _ = try await it.mount.respond(to: MountRequest(method: .get, target: "/thing", headerFields: [:]))
        #expect(try it.storedCount == 0)
        #expect(try await it.ask().body == Self.large)
        #expect(try it.storedCount == 1)
    }
}
