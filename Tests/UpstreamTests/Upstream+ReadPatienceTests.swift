import Foundation
import HTTP
import HTTPTypes
import Storage
import TestKit
import Testing

@testable import Upstream

/// The stored copy after the patience (default 2 s), and many readers of one thing.
@Suite(.timeLimit(.minutes(10)))
struct UpstreamReadPatienceTests {
    private let scene: Scenario

    init() throws { scene = try Scenario() }

    @Test("No response within the patience: the copy, stale; the request continues and updates the store")
    func patience() async throws {
        try await scene.age(scene.list())
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "new")))
        async let slow = scene.upstream.read(scene.list())
        await scene.clock.sleepers(of: .seconds(2))
        scene.clock.advance(by: .seconds(2))
        let result = try await slow
        #expect(result.cacheStatus == "larder; fwd=stale; detail=patience")
        #expect(result.provenance.stale && !result.provenance.offline && !result.provenance.isValidatedNow)
        #expect(try scene.body(of: result.response) == "old")
        #expect(try scene.storedBody(scene.list()) == "old")
        // A second reader joins the request that is still under way.
        async let joined = scene.upstream.read(scene.list())
        await scene.clock.sleepers(of: .seconds(2))
        gate.open()
        let fresh = try await joined
        #expect(fresh.cacheStatus == "larder; fwd=stale; collapsed")
        #expect(try scene.body(of: fresh.response) == "new")
        #expect(try scene.storedBody(scene.list()) == "new")
        #expect(scene.transport.count == 2)
    }

    @Test("Without a copy there is no patience that could end")
    func nothingToGive() async throws {
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "one")))
        async let result = scene.upstream.read(scene.list())
        await gate.arrivals(1)
        #expect(scene.clock.count(of: .seconds(2)) == 0)
        gate.open()
        #expect(try await result.cacheStatus == "larder; fwd=uri-miss; stored")
    }

    @Test("Without any patience the copy is served and the store is updated afterwards")
    func noPatience() async throws {
        let scene = try Scenario { $0.patience = .zero }
        try await scene.age(scene.list())
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "new")))
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; fwd=stale; detail=patience")
        await gate.arrivals(1)
        async let joined = scene.upstream.read(scene.list("/list"), .revalidate)
        gate.open()
        _ = try await joined
    }

    @Test("SRV-08 Concurrent readers of one cold thing cause one exchange; all but the first are collapsed")
    func collapsed() async throws {
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "one")))
        let readers = (1...50).map { _ in Task { try await scene.upstream.read(scene.list()) } }
        await gate.arrivals(1)
        gate.open()
        var statuses: [String: Int] = [:]
        for reader in readers {
            let result = try await reader.value
            #expect(try scene.body(of: result.response) == "one")
            statuses[result.cacheStatus ?? "", default: 0] += 1
        }
        #expect(scene.transport.count == 1)
        #expect(statuses["larder; fwd=uri-miss; stored"] == 1)
        #expect(
            statuses.keys.allSatisfy {
                $0 == "larder; fwd=uri-miss; stored" || $0 == "larder; fwd=uri-miss; collapsed"
                    || $0 == "larder; hit; ttl=5"
            }
        )
    }

    @Test("SRV-08 A thousand clients of a cold thing cause one exchange, also those that come when it has just landed")
    func thousandClients() async throws {
        scene.transport.always(response(.ok, "one"))
        for round in 1...20 {
            let resource = scene.list("/\(round)")
            try await (1...50).concurrentMap { _ in _ = try await scene.upstream.read(resource) }
        }
        #expect(scene.transport.count == 20)
    }

    @Test("SRV-08 A read planned before a flight ended that starts after it gets its response as if it had joined")
    func cameTooLate() async throws {
        scene.transport.then(response(.ok, "one"))
        let before = try scene.upstream.snapshot(of: scene.list())
        _ = try await scene.upstream.read(scene.list())
        let landing = try await scene.upstream.fetch(scene.list(), asOf: before)
        #expect(try scene.body(of: landing.response) == "one")
        #expect(landing.upstreamStatus == nil)
        #expect(scene.transport.count == 1)
        // A read that has seen that response and still asks sends a request.
        scene.transport.then(response(.ok, "two"))
        _ = try await scene.upstream.fetch(scene.list(), asOf: scene.upstream.snapshot(of: scene.list()))
        #expect(scene.transport.count == 2)
    }

    @Test("A read that was planned before a response was stored serves it, without a request")
    func plannedBefore() async throws {
        let before = scene.upstream.readToken(of: scene.list().url)
        let planned = try scene.database.read { db in
            try scene.upstream.plannedRead(of: scene.list(), .useCache, since: before, in: db)
        }
        #expect(planned.isCurrent)
        scene.transport.then(response(.ok, "one"))
        _ = try await scene.upstream.read(scene.list())
        #expect(!planned.isCurrent)
        let result = try await scene.upstream.read(scene.list(), planned: planned)
        #expect(result.cacheStatus == "larder; hit; ttl=5")
        #expect(try scene.body(of: result.response) == "one")
        #expect(scene.transport.count == 1)
    }

    @Test("Different things are not collapsed: other URL, other fields, other account")
    func notCollapsed() async throws {
        let gate = Gate()
        scene.transport.always(held(by: gate, response(.ok, "one")))
        var other = scene.list()
        other.headerFields[.acceptLanguage] = "de"
        let resources = [scene.list(), scene.list("/other"), other]
        let readers = resources.map { resource in Task { try await scene.upstream.read(resource) } }
        await gate.arrivals(3)
        gate.open()
        for reader in readers { _ = try await reader.value }
        #expect(scene.transport.count == 3)
    }

    @Test("A failure ends every read that waits, and the next read sends a request")
    func failureIsShared() async throws {
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.notFound)))
        let readers = (1...5).map { _ in Task { try await scene.upstream.read(scene.list(), .revalidate) } }
        await gate.arrivals(1)
        scene.transport.always(response(.notFound))
        gate.open()
        for reader in readers {
            await #expect(throws: UpstreamError.rejected(status: .notFound, body: [])) { try await reader.value }
        }
        scene.transport.always(response(.ok, "one"))
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; fwd=uri-miss; stored")
    }

    @Test(
        "A read that is cancelled ends at once; the request continues for the others and for the store",
        arguments: [true, false]
    )
    func cancelledReader(hasCopy: Bool) async throws {
        if hasCopy { try await scene.age(scene.list()) }
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "new")))
        let impatient = Task { try await scene.upstream.read(scene.list()) }
        await gate.arrivals(1)
        let patient = Task { try await scene.upstream.read(scene.list()) }
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        gate.open()
        #expect(try scene.body(of: await patient.value.response) == "new")
        #expect(scene.transport.count == (hasCopy ? 2 : 1))
        #expect(scene.upstream.reachability.isReachable)
    }

    @Test("A read that was cancelled before it began ends at once")
    func cancelledBefore() async throws {
        let gate = Gate()
        scene.transport.then(held(by: gate, response(.ok, "new")))
        let begun = Gate()
        let reader = Task {
            await begun.pass()
            return try await scene.upstream.read(scene.list())
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        gate.open()
    }
}
