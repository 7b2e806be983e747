import Foundation
import HTTPTypes
import NIOCore
import ResponseStore
import TestKit
import Testing
import Upstream

@testable import Concurrency
@testable import Freshness
@testable import Proxy
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

    @Test(
        "SRV-07 A response that was under way during a write is no hit afterwards, nor collapsed with later requests"
    )
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

    @Test(
        "SRV-07 A HEAD that shows another version invalidates the stored response, which stays the last good one"
    )
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
