import Foundation
import HTTPTypes
import NIOCore
import TestKit
import Testing
import Upstream

@testable import Concurrency
@testable import Freshness
@testable import Proxy
@testable import Upstream

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
