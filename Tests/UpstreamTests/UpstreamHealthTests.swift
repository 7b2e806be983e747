import Foundation
import HTTP
import HTTPTypes
import TestKit
import Testing

@testable import Upstream

/// Down, probed, back: without any client.
@Suite(.timeLimit(.minutes(10)))
struct UpstreamHealthTests {
    private let scene: Scenario

    init() throws { scene = try Scenario() }

    @Test("SRV-09 A probe notices the recovery without a client: refreshers run first, then listeners")
    func comesBack() async throws {
        let scene = try Scenario { $0.probePath = "/v4" }
        let order = Watched<[String]>([])
        scene.upstream.onRecovery { order.update { $0.append("refreshed") } }
        scene.upstream.onChange { change in
            switch change {
            case .wentDown: order.update { $0.append("down") }
            case .cameBack: order.update { $0.append("back") }
            }
        }
        await scene.goDown()
        let downAt = scene.clock.now
        await scene.clock.sleepers(of: .seconds(5))
        await scene.changes.until { $0 == [.wentDown(at: downAt)] }
        scene.transport.then(response(.notFound))  // Any response will do.
        scene.clock.advance(by: .seconds(5))
        await scene.changes.until { $0.count == 2 }
        #expect(scene.changes.value.last == .cameBack(at: scene.clock.now))
        await order.until { $0 == ["down", "refreshed", "back"] }
        #expect(scene.transport.requests.last?.url == "https://api.test/v4")
        #expect(scene.upstream.reachability.isReachable)
        #expect(scene.upstream.reachability.since == scene.clock.now)
    }

    @Test("HARN-06 it is settled when the probe has ended, and what is shown was refreshed after its recovery")
    func settled() async throws {
        let (gate, order) = (Watched(false), Watched<[String]>([]))
        scene.upstream.onRecovery {
            await gate.until { $0 }
            order.update { $0.append("refreshed") }
        }
        #expect(scene.upstream.isSettled)
        await scene.goDown()
        await scene.upstream.settle()
        #expect(scene.upstream.isSettled && scene.changes.value.count == 1)
        scene.transport.then(response(.ok, "one"))
        _ = try await scene.upstream.read(scene.list(), .revalidate)
        #expect(!scene.upstream.isSettled)
        async let settled: Void = scene.upstream.settle()
        gate.update { $0 = true }
        await settled
        order.update { $0.append("settled") }
        #expect(order.value == ["refreshed", "settled"] && scene.changes.value.count == 2)
        // A server that stops waits for nothing.
        scene.transport.always(failure(.unreachable(.refused)))
        scene.upstream.probe()
        scene.upstream.stop()
        await scene.upstream.settle()
    }

    @Test("HARN-06 while the clock stands still, changes are announced and probes sent when the response is ready")
    func behindRequest() async throws {
        scene.clock.freeze()
        let order = Watched<[String]>([])
        scene.upstream.onRecovery { order.update { $0.append("refreshed") } }
        scene.transport.always(failure(.unreachable(.refused)))
        let scope = RequestScope()
        try await RequestScope.$current.withValue(scope) {
            _ = try? await scene.upstream.read(scene.list(), .revalidate)
            #expect(!scene.upstream.reachability.isReachable)
            scene.transport.always(response(.ok, "one"))
            _ = try await scene.upstream.read(scene.list(), .revalidate)
            #expect(scene.upstream.reachability.isReachable && scene.upstream.isSettled)
            order.update { $0.append("responded") }
        }
        scope.end()
        await scene.upstream.settle()
        #expect(order.value == ["responded", "refreshed"])
        #expect(scene.changes.value == [.wentDown(at: scene.clock.now), .cameBack(at: scene.clock.now)])
        // A change that is found after the end of the request is announced at once.
        scene.transport.always(failure(.unreachable(.refused)))
        await RequestScope.$current.withValue(scope) {
            _ = try? await scene.upstream.read(scene.list(), .revalidate)
        }
        await scene.upstream.settle()
        #expect(scene.changes.value.count == 3)
        // A read that finds it down.
        scene.clock.advance(by: .seconds(3))
        let sent = scene.transport.count
        let next = RequestScope()
        _ = try await RequestScope.$current.withValue(next) { try await scene.upstream.read(scene.list()) }
        #expect(scene.transport.count == sent && scene.upstream.isSettled)
        next.end()
        #expect(!scene.upstream.isSettled)
        await scene.upstream.settle()
        #expect(scene.transport.count > sent)
    }

    @Test("While it is down, probes are sent with growing pauses, and no listener is notified twice")
    func staysDown() async throws {
        await scene.goDown()
        scene.transport.always(failure(.unreachable(.refused)))
        for (probe, pause) in [5, 10, 20, 40, 60, 60].enumerated() {
            await scene.clock.sleepers(of: .seconds(pause))
            scene.clock.advance(by: .seconds(pause))
            await scene.transport.requests(probe + 2)
        }
        await scene.clock.sleepers(of: .seconds(60))
        await scene.changes.until { !$0.isEmpty }
        #expect(scene.changes.value.count == 1)
        #expect(scene.upstream.reachability.failures == 7)
    }

    @Test("An upstream that only redirects is reachable")
    func redirectingProbe() async throws {
        await scene.goDown()
        scene.transport.then(response(.found, fields: [.location: "https://docs.elsewhere.test/"]))
        await scene.clock.sleepers(of: .seconds(5))
        scene.clock.advance(by: .seconds(5))
        await scene.changes.until { $0.count == 2 }
        #expect(scene.upstream.reachability.isReachable)
    }

    @Test("A client that gets a response ends the probing")
    func clientWasFaster() async throws {
        await scene.goDown()
        await scene.clock.sleepers(of: .seconds(5))
        scene.transport.then(response(.ok, "one"))
        _ = try await scene.upstream.read(scene.list(), .revalidate)
        await scene.clock.noSleepers(of: .seconds(5))
        await scene.changes.until { $0.count == 2 }
        #expect(scene.transport.count == 2)
    }

    @Test("SRV-09 Listeners get changes in their order, also if it goes down while its screens are refreshed")
    func flapping() async throws {
        scene.upstream.onRecovery { _ = try? await scene.upstream.read(scene.list("/refreshed"), .revalidate) }
        await scene.goDown()
        await scene.clock.sleepers(of: .seconds(5))
        scene.transport.then(response(.ok), failure(.unreachable(.refused)))
        scene.clock.advance(by: .seconds(5))
        await scene.changes.until { $0.count == 3 }
        let now = scene.clock.now
        #expect(scene.changes.value == [.wentDown(at: now - 5), .cameBack(at: now), .wentDown(at: now)])
        #expect(!scene.upstream.reachability.isReachable)
    }

    @Test("After concurrent failures and responses the listeners have the final state")
    func race() async throws {
        let turn = Watched(0)
        scene.transport.always { _ throws(UpstreamError) in
            let number = turn.update { turn in
                turn += 1
                return turn
            }
            if number % 2 == 0 { throw .unreachable(.refused) }
            return IncomingResponse(status: .ok)
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask { _ = try? await scene.upstream.read(scene.list("/\(number)"), .revalidate) }
            }
        }
        // Something certain at the end, so that there is something to wait for.
        scene.transport.always(response(.ok))
        _ = try await scene.upstream.read(scene.list(), .revalidate)
        scene.clock.advance(by: .seconds(1))
        scene.transport.always(failure(.unreachable(.refused)))
        _ = try? await scene.upstream.read(scene.list("/other"), .revalidate)
        let last = Upstream.Change.wentDown(at: scene.clock.now)
        await scene.changes.until { $0.last == last }
        for (first, second) in zip(scene.changes.value, scene.changes.value.dropFirst()) {
            switch (first, second) {
            case (.wentDown, .cameBack), (.cameBack, .wentDown): break
            default: Issue.record("\(first) before \(second)")
            }
        }
        await scene.clock.sleepers(of: .seconds(5))
    }

    @Test("A refresh may request the resource whose read noticed the recovery")
    func refreshesTheSame() async throws {
        scene.upstream.onRecovery { _ = try? await scene.upstream.read(scene.list(), .revalidate) }
        await scene.goDown()
        scene.transport.always(response(.ok, "one"))
        #expect(try await scene.upstream.read(scene.list(), .revalidate).provenance.isValidatedNow)
        await scene.changes.until { $0.count == 2 }
    }

    @Test("A read that finds its upstream marked down starts a probe, at most one in two seconds, and does not wait")
    func probeByRead() async throws {
        let scene = try Scenario(attempts: 1)
        _ = try await scene.age(scene.list())
        await scene.goDown()
        let count = scene.transport.count
        #expect(try await scene.upstream.read(scene.list()).provenance.offline)
        #expect(scene.transport.count == count, "the failure was just now")
        scene.clock.advance(by: .milliseconds(1999))
        _ = try await scene.upstream.read(scene.list())
        scene.clock.advance(by: .milliseconds(1))
        scene.transport.always(response(.notFound))
        for _ in 1...3 { #expect(try await scene.upstream.read(scene.list()).provenance.offline || true) }
        await scene.changes.until { $0.count == 2 }
        #expect(scene.transport.requests.dropFirst(count).map(\.url) == ["https://api.test/"])
        #expect(scene.upstream.reachability.isReachable)
    }

    @Test("stop() ends the waiting for a probe")
    func stopWhileWaiting() async throws {
        await scene.goDown()
        await scene.clock.sleepers(of: .seconds(5))
        scene.upstream.stop()
        await scene.clock.noSleepers(of: .seconds(5))
        #expect(scene.transport.count == 1)
    }

    @Test("stop() ends a probe under way, and none follows")
    func stopWhileProbing() async throws {
        await scene.goDown()
        await scene.clock.sleepers(of: .seconds(5))
        let ended = Watched(false)
        let probe: ScriptedTransport.Step = { _ throws(UpstreamError) in
            await Gate().pass()  // Only cancelling leads on.
            ended.update { $0 = true }
            throw .unreachable(.totalTimeout)
        }
        scene.transport.then(probe)
        scene.clock.advance(by: .seconds(5))
        await scene.transport.requests(2)
        scene.upstream.stop()
        await ended.until { $0 }
        #expect(scene.clock.count(of: .seconds(10)) == 0)
    }

    @Test("stop() ends requests under way; their reads end")
    func stopWhileReading() async throws {
        try await scene.age(scene.list())
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "new")))
        async let result = scene.upstream.read(scene.list())
        await gate.arrivals(1)
        scene.upstream.stop()
        #expect(try await result.provenance.stale)
        #expect(scene.changes.value.isEmpty, "being stopped says nothing about the upstream")
    }
}

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
