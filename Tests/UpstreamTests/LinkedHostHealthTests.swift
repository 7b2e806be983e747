import Foundation
import HTTP
import HTTPTypes
import TestKit
import Testing

@testable import Upstream

@Suite(.timeLimit(.minutes(10)))
struct LinkedHostHealthTests {
    private let noon = Date(timeIntervalSince1970: 1_700_000_000)

    @Test("A host counts as unreachable for a pause that grows, and is back with its first response")
    func pauses() {
        let health = LinkedHostHealth(probeInterval: .seconds(5))
        #expect(health.isReachable("a", at: noon))
        health.unreachable("a", .refused, at: noon, jitter: 0.5)
        #expect(!health.isReachable("a", at: noon + 4) && health.isReachable("a", at: noon + 5))
        #expect(health.isReachable("b", at: noon))
        health.unreachable("a", .refused, at: noon + 5, jitter: 0.5)
        #expect(!health.isReachable("a", at: noon + 14) && health.isReachable("a", at: noon + 15))
        health.responded("a", .ok, retryAfter: nil, at: noon + 6)
        #expect(health.isReachable("a", at: noon + 6))
    }

    @Test("A pause from before the clock was set back is over; an attempt, and an overdue response, keep others away")
    func clock() {
        let health = LinkedHostHealth(probeInterval: .seconds(5))
        health.unreachable("a", .refused, at: noon, jitter: 0.5)
        #expect(!health.beginAttempt("a", at: noon + 4) && health.beginAttempt("a", at: noon + 5))
        #expect(!health.beginAttempt("a", at: noon + 7) && health.beginAttempt("a", at: noon + 8))
        #expect(health.isReachable("a", at: noon - 86_400) && health.beginAttempt("a", at: noon - 86_400))
        let wait = health.began("c", at: noon)
        #expect(health.beginAttempt("c", at: noon + 2) && !health.beginAttempt("c", at: noon + 3))
        health.responded("c", .ok, retryAfter: nil, at: noon + 3)
        #expect(health.isReachable("c", at: noon + 5) && !health.isReachable("c", at: noon + 6))
        health.ended(wait)
        #expect(health.isReachable("c", at: noon + 6))
        health.responded("b", .tooManyRequests, retryAfter: 30, at: noon)
        #expect(health.pause("b", at: noon + 29) != nil && health.pause("b", at: noon + 30) == nil)
        #expect(health.beginAttempt("b", at: noon) && health.isReachable("b", at: noon))
    }

    @Test("A loss of linked hosts leaves the API as it is, also beside its base path on its own origin")
    func apart() async throws {
        let scene = try Scenario(attempts: 1) {
            $0.baseURL = URL(string: "https://api.test/v1") ?? $0.baseURL
        }
        scene.transport.always(failure(.unreachable(.refused)))
        for url in ["https://api.test/uploader/1", "https://api.test/v10/x", "https://pictures.test/a.png"] {
            await #expect(throws: UpstreamError.self) { try await scene.upstream.call(OutgoingRequest(url: url)) }
            #expect(scene.upstream.reachability.isReachable && scene.upstream.reachability.since == nil)
        }
        await #expect(throws: UpstreamError.self) {
            try await scene.upstream.call(OutgoingRequest(url: "https://api.test/v1/list"))
        }
        #expect(!scene.upstream.reachability.isReachable)
    }

    @Test("While the API is unreachable, a picture of a host that is not is fetched; then its own loss counts")
    func read() async throws {
        let scene = try Scenario(attempts: 1)
        let picture = Resource(url: "https://pictures.test/a.png", freshness: .seconds(1))
        scene.transport.then(response(.ok, "old"))
        _ = try await scene.upstream.read(picture)
        await scene.goDown()
        scene.clock.advance(by: .seconds(2))
        scene.transport.then(response(.ok, "new"))
        #expect(try await !scene.upstream.read(picture).provenance.offline)
        scene.clock.advance(by: .seconds(2))
        scene.transport.then(failure(.unreachable(.refused)))
        let count = scene.transport.count
        #expect(try await scene.upstream.read(picture).provenance.offline)
        #expect(try await scene.upstream.read(picture).cacheStatus?.hasSuffix("detail=offline") == true)
        #expect(scene.transport.count == count + 1)
    }
}
