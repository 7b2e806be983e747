import Concurrency
import Foundation
import Freshness
import HTTPServer
import HTTPTypes
import Sandbox
import Screens
import Synchronization
import Upstream

extension Harness: HarnessedServer {
    var now: Date { clock.now }
    var isFrozen: Bool { clock.isFrozen }
    var fixtures: FixtureLibrary { application?.fixtures ?? FixtureLibrary([]) }
    var served: ServedRoutes {
        ServedRoutes(application?.table.routes.map { "\($0.method.rawValue) \($0.pattern)" } ?? [])
    }

    var isActive: Bool { state.withLock { $0.isActive } }

    func activate() {
        let application = state.withLock { state -> (any ReplaceableServer)? in
            guard !state.isActive else { return nil }
            state.isActive = true
            return state.served?.application
        }
        application?.responseCache?.close()
    }

    func noteUse() {
        let now = clock.real.now()
        state.withLock { $0.lastUse = now }
    }

    var seedMembers: [String] { application?.seed.members ?? [] }

    func seed(_ document: [UInt8], _ upstreams: @escaping @Sendable (_ store: SeedStore) async throws -> SeedReport)
        async throws -> SeedReport
    {
        // No reset takes the server away meanwhile.
        try await resets.withPermit {
            guard let application else { throw HarnessError.notReady }
            return try await upstreams { try await application.seed.store(document) }
        }
    }

    func upstreamsWereReset() {
        guard let application else { return }
        for upstream in application.upstreams where upstream.forgetFailures() {
            let event = ServerEvent.connectivity(upstream: upstream.configuration.name, reachable: true, at: now)
            application.events.publish(event)
        }
    }

    func setClock(_ time: Date?, frozen: Bool?) async -> Bool { await clock.set(time, frozen: frozen) }

    func advanceClock(by seconds: Double) async { await clock.advance(by: seconds) }

    /// Waits until what a request has started in the background is done: a probe, and the refresh behind a recovery.
    /// While the clock stands still this is part of the request, so that equal runs send the same requests in the same
    /// order; but it waits no longer than ``longestSettling``.
    func settle(_ application: any ReplaceableServer) async {
        let busy = application.upstreams.filter { !$0.isSettled }
        guard !busy.isEmpty else { return }
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        Task {
            for upstream in busy { await upstream.settle() }
            continuation.finish()
        }
        let limit = Task { [clock] in
            // Cancelled if all have settled before.
            try? await clock.real.sleep(Self.longestSettling)
            continuation.finish()
        }
        // Ends as well if the request is cancelled.
        for await _ in ends {}
        limit.cancel()
    }
}
