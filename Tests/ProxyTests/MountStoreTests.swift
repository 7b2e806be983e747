import Database
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
            upstream: it.mount.storeName,
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
