import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Concurrency
@testable import Freshness
@testable import Proxy
@testable import Upstream

@Suite("Mounts: pauses", .timeLimit(.minutes(10)))
struct UpstreamStateTests {
    @Test(
        "SRV-05 SRV-07 Until its Retry-After ends, neither mounts nor screens read an upstream, except to revalidate",
        arguments: [HTTPResponse.Status.tooManyRequests, .serviceUnavailable]
    )
    func pause(status: HTTPResponse.Status) async throws {
        let it = try MountScenario(MountOptions(methods: [.get, .head, .post]))
        let transport = it.scene.transport
        transport.then(
            response(.ok, "one", fields: it.fields("max-age=5")),
            response(status, fields: [.retryAfter: "30"])
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        #expect(try await it.ask(.get, "/other").status == status.code)
        #expect(transport.count == 2)

        let stale = try await it.ask()
        #expect(
            stale.body == "one" && stale.cacheStatus == "larder; hit; ttl=-1; detail=retry-after" && !stale.isOffline
        )
        await #expect(throws: UpstreamError.known(.failing(status: status, retryAfter: 30))) {
            try await it.ask(.get, "/other")
        }
        await #expect(throws: UpstreamError.known(.failing(status: status, retryAfter: 30))) {
            try await it.scene.upstream.read(it.scene.list())
        }
        #expect(transport.count == 2)

        transport.then(response(.ok, "written"), response(.ok, "new", fields: it.fields("max-age=5")))
        #expect(try await it.ask(.post, "/other", body: "{}").body == "written", "a write is tried")
        #expect(try await it.ask(.get, "/thing", [.cacheControl: "no-cache"]).body == "new")
    }

    @Test("SRV-07 What must be validated is not shown unvalidated during the pause either")
    func mustRevalidate() async throws {
        let it = try MountScenario()
        it.scene.transport.then(
            response(.ok, "one", fields: it.fields("max-age=5, must-revalidate")),
            response(.tooManyRequests, fields: [.retryAfter: "30"])
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        #expect(try await it.ask(.get, "/other").status == 429)
        await #expect(throws: UpstreamError.known(.failing(status: .tooManyRequests, retryAfter: 30))) {
            try await it.ask()
        }
        #expect(it.scene.transport.count == 2)
    }

    @Test("SRV-05 Cache-Status has fwd, and an error says that a request was sent, if and only if one was")
    func told() async throws {
        let it = try MountScenario()
        let transport = it.scene.transport
        func ask(_ target: String = "/thing", _ fields: HTTPFields = [:], isSent: Bool) async throws {
            let before = transport.count
            do {
                let seen = try await it.ask(.get, target, fields)
                #expect(seen.cacheStatus?.contains("fwd=") == isSent, "\(seen)")
            } catch let error as UpstreamError {
                #expect(error.wasSent == isSent, "\(error)")
            }
            #expect((transport.count > before) == isSent)
        }
        transport.then(
            response(.ok, "one", fields: it.fields("max-age=5")),
            response(.tooManyRequests, fields: [.retryAfter: "30"])
        )
        try await ask(isSent: true)
        try await ask(isSent: false)
        try await ask("/other", [.cacheControl: "only-if-cached"], isSent: false)
        try await ask("/other", isSent: true)
        try await ask("/other", isSent: false)
        try await ask("/other", [.range: "bytes=0-1"], isSent: false)
        it.scene.clock.advance(by: .seconds(6))
        try await ask(isSent: false)
        it.scene.clock.advance(by: .seconds(60))
        transport.goAway()
        try await ask(isSent: true)
        try await ask(isSent: false)
        try await ask("/thing", [.cacheControl: "only-if-cached"], isSent: false)
        try await ask("/thing", [.cacheControl: "no-cache"], isSent: true)
        try await ask("/other", isSent: true)
    }

    @Test("SRV-05 A Retry-After that a mount receives applies to screens, too")
    func shared() async throws {
        let it = try MountScenario()
        try await it.scene.age(it.scene.list())
        it.scene.transport.then(response(.serviceUnavailable, fields: [.retryAfter: "30"]))
        try await it.ask()
        let result = try await it.scene.upstream.read(it.scene.list())
        #expect(result.cacheStatus?.hasSuffix("detail=retry-after") == true)
    }
}
