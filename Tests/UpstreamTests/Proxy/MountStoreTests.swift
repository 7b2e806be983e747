import Foundation
import GRDB
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

@Suite("Mounts: what is stored within a budget, and noted as used", .timeLimit(.minutes(10)))
struct MountStoreTests {
    private static let large = String(repeating: "x", count: 2000)

    @Test(
        "SRV-07 A body without room in the budget passes, is not stored, and removes the copy that it supersedes",
        arguments: [true, false]
    )
    func tooLarge(isAnnounced: Bool) async throws {
        let it = try MountScenario(budget: CacheBudget(bytes: 1000))
        it.scene.transport.then(
            response(.ok, "small", fields: it.fields("max-age=60")),
            response(.ok, Self.large, fields: it.fields("max-age=60", isAnnounced ? [.contentLength: "2000"] : [:])),
            response(.ok, "third", fields: it.fields("no-store"))
        )
        try await it.ask()
        #expect(try it.storedCount == 1)
        #expect(try await it.ask(.get, "/thing", [.cacheControl: "no-cache"]).body == Self.large)
        #expect(try it.storedCount == 0)
        #expect(try await it.ask().body == "third", "not the first one, which is fresh")
    }

    @Test("A hit is a use; so is a stored response in place of the upstream's", arguments: [true, false])
    func uses(isReachable: Bool) async throws {
        let it = try MountScenario()
        it.scene.transport.then(response(.ok, "one", fields: it.fields("max-age=60")))
        try await it.ask()
        it.scene.clock.advance(by: .seconds(isReachable ? 30 : 90))
        if !isReachable { it.scene.transport.always(failure(.unreachable(.refused))) }
        #expect(try await it.ask().body == "one")
        #expect(try await it.scene.accessRecorder.flush(to: it.scene.database) == 1)
        let stored = try ResponseStore(it.scene.database).responses(
            upstream: it.mount.store.name,
            method: .get,
            url: "https://api.test/thing",
            credential: nil
        )
        #expect(stored.map(\.lastUsed) == [it.scene.clock.now])
    }

    @Test("A large body that cannot be made known leaves no file, and its client has it all the same")
    func noOrphan() async throws {
        let it = try MountScenario()
        try await it.scene.refuseToStore()
        it.scene.transport.then(response(.ok, ProxyExchangePassingTests.large, fields: it.fields("max-age=60")))
        #expect(try await it.ask().body == ProxyExchangePassingTests.large)
        #expect(try it.scene.database.blobs.fileNames().isEmpty)
    }
}

@Suite("Mounts: how long a response may be repeated", .timeLimit(.minutes(10)))
struct StoreSnapshotTests {
    private let it: MountScenario

    init() throws {
        it = try MountScenario(MountOptions(methods: [.get, .head, .put]))
        it.scene.transport.always(
            response(
                .ok,
                "one",
                fields: it.fields("max-age=60, stale-while-revalidate=60", [.eTag: "\"a\"", .contentLength: "3"])
            )
        )
    }

    private func changeToken(
        _ method: HTTPRequest.Method = .get,
        _ fields: HTTPFields = [:],
        on behalf: MountCredential? = nil
    ) async throws -> ChangeToken? {
        try await it.mount.respond(
            to: MountRequest(method: method, target: "/thing", headerFields: fields, credential: behalf)
        ).changeToken
    }

    @Test("SRV-07 A fetched response is not repeated from memory; a hit is, with its age, until its freshness ends")
    func freshness() async throws {
        #expect(try await changeToken() == nil)
        it.scene.clock.advance(by: .seconds(10))
        let before = NIODeadline.now()
        let hit = try #require(try await changeToken())
        let after = NIODeadline.now()
        #expect(hit.holds(at: before + .seconds(50) - .nanoseconds(1)) && !hit.holds(at: after + .seconds(50)))
        let age = try #require(hit.age)
        #expect(age.seconds(at: after) == 10 && age.timeToLive(at: after) == 50)
        #expect(age.seconds(at: after + .seconds(40)) == 50 && age.timeToLive(at: after + .seconds(40)) == 10)
        for (method, fields) in [
            (HTTPRequest.Method.head, HTTPFields()), (.get, [.range: "bytes=0-0"]), (.get, [.ifNoneMatch: "\"a\""]),
        ] {
            #expect(try await changeToken(method, fields) != nil)
        }
    }

    @Test("SRV-07 A stale response, and one to a request with freshness directives, is looked up each time")
    func neverKept() async throws {
        try await it.ask()
        for directive in ["max-age=55", "min-fresh=5", "max-stale", "only-if-cached", "no-store", "stale-if-error=5"] {
            #expect(try await changeToken(.get, [.cacheControl: directive]) == nil, "\(directive)")
        }
        #expect(try await changeToken(.get, [.cacheControl: "no-transform"]) != nil)
        it.scene.clock.advance(by: .seconds(61))
        #expect(try await changeToken() == nil)
    }

    @Test("SRV-11 A response to an account's own token is looked up each time")
    func onBehalf() async throws {
        let identity = try SealedSecrets(it.scene.database).credentialHasher().hash("account 1")
        let it = try MountScenario(MountOptions(shared: false))
        it.scene.transport.always(
            response(.ok, "mine", fields: it.fields("private, max-age=60", [.contentLength: "4"]))
        )
        for _ in 1...2 {
            let request = MountRequest(
                method: .get,
                target: "/thing",
                headerFields: [:],
                credential: MountCredential(authorization: "Bearer own", identity: identity)
            )
            let response = try await it.mount.respond(to: request)
            #expect(response.changeToken == nil)
        }
        #expect(it.scene.transport.count == 1)
    }

    @Test(
        "SRV-07 A write, a 304, another response, a removal and the loss of the upstream end it",
        arguments: ["put", "304", "200", "purge", "down"]
    )
    func ends(by event: String) async throws {
        try await it.ask()
        let hit = try #require(try await changeToken())
        #expect(hit.holds(at: .now()))
        switch event {
        case "put": try await it.ask(.put, "/thing", body: "two")
        case "304":
            it.scene.transport.then(response(.notModified, fields: it.fields("max-age=60", [.eTag: "\"a\""])))
            try await it.ask(.get, "/thing", [.cacheControl: "no-cache"])
        case "200": try await it.ask(.get, "/thing", [.cacheControl: "no-cache"])
        case "purge":
            try await it.scene.database.write { try $0.execute(sql: "DELETE FROM stored_response") }
        default:
            it.scene.transport.always(failure(.unreachable(.refused)))
            try await it.ask(.get, "/thing", [.cacheControl: "no-cache"])
        }
        #expect(!hit.holds(at: .now()))
    }

    @Test("SRV-07 What happens to another URL does not end it")
    func others() async throws {
        try await it.ask()
        let hit = try #require(try await changeToken())
        try await it.ask(.get, "/other")
        #expect(hit.holds(at: .now()))
    }
}

@Suite(.timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test("TRUST-02 on a full disk a mount serves what the upstream confirms, and asks again next time")
    func confirmed() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        let it = try MountScenario(directory: directory)
        it.scene.transport.then(response(.ok, "one", fields: it.fields("max-age=5", [.eTag: "\"a\""])))
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        let confirmation = response(.notModified, fields: it.fields("max-age=50", [.eTag: "\"a\""]))
        for count in 2...3 {
            it.scene.transport.then(confirmation)
            let (seen, hasFailed) = await disk.failing(.fullDisk, at: 1) { try? await it.ask() }
            #expect(hasFailed && seen?.status == 200 && seen?.body == "one")
            #expect(seen?.cacheStatus == "larder; fwd=stale; fwd-status=304")
            #expect(it.scene.transport.count == count)
        }
        it.scene.transport.then(confirmation)
        try await it.ask()
        #expect(try await it.ask().cacheStatus == "larder; hit; ttl=50")
    }

    @Test("TRUST-02 on a full disk a mount removes what may not be kept any more")
    func removed() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        let it = try MountScenario(directory: directory)
        it.scene.transport.then(
            response(.ok, "one", fields: it.fields("max-age=5", [.eTag: "\"a\""])),
            response(.notModified, fields: it.fields("no-store", [.eTag: "\"a\""]))
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        let (seen, hasFailed) = await disk.failing(.noRoomOnce, at: 1) { try? await it.ask() }
        #expect(hasFailed && seen?.body == "one")
        it.scene.transport.then(failure(.unreachable(.refused)))
        await #expect(throws: (any Error).self) { try await it.ask() }
    }
}
