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
