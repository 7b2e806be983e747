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

    @Test(
        "SRV-07 A fetched response is not repeated from memory; a hit is, with its age, until its freshness ends"
    )
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
            let (responses, name) = (ResponseStore(it.scene.database), it.mount.storeName)
            #expect(try await it.scene.database.write { try responses.purge(upstream: name, in: $0) } == 1)
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
