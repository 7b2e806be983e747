import Concurrency
import Database
import Foundation
import Freshness
import Hummingbird
import Sandbox
import Screens
import Synchronization

extension Harness {
    /// Replaces all state of the server by that of a new data directory; ports, process, certificate and key stay.
    ///
    /// - Parameter upstreams: Resets the simulated upstreams; called when no request of the old state is left.
    /// - Throws: As ``replace(by:meanwhile:)``.
    func reset(_ upstreams: @escaping @Sendable () -> Void) async throws {
        try await replace(by: pristine) { [clock, randomness, front, frontFaults] in
            upstreams()
            randomness?.reset()
            clock.reset()
            front.clear()
            frontFaults.reset()
        }
    }

    /// Replaces what the server has stored; ports, process and certificate stay.
    ///
    /// - Parameters:
    ///   - contents: What it has then.
    ///   - meanwhile: Called when no request of the old state is left, and none of the new one has begun.
    /// - Throws: ``HarnessError``; the errors of the composition root, after which the server responds with 503 until
    ///   the next attempt; those of the end of the old server, after which the new one is served.
    func replace(by contents: any StoreContents, meanwhile: @escaping @Sendable () -> Void) async throws {
        try await resets.withPermit { [self] in
            // A task of its own: if its caller goes away, a replacement is not left half done.
            try await Task { try await replaceNow(by: contents, meanwhile) }.value
        }
    }

    private func replaceNow(by contents: any StoreContents, _ meanwhile: @Sendable () -> Void) async throws {
        let (last, rebuild) = try begin()
        defer { finish() }
        let ended = await end(last)
        meanwhile()
        begin(try await rebuild(contents), rebuild: rebuild)
        // What the old server has allocated is freed beside, and not before the response.
        Task { withExtendedLifetime(last) {} }
        try ended.get()
    }

    /// Ends a server. One that does not end in order is not served any more, either.
    private func end(_ last: (application: any ReplaceableServer, generation: ServiceGeneration)?) async
        -> Result<Void, any Error>
    {
        guard let (application, generation) = last else { return .success(()) }
        await generation.retire()
        application.stop()
        await drain()
        state.withLock { $0.served = nil }
        do {
            return .success(try await application.close())
        } catch {
            return .failure(error)
        }
    }

    /// Lets no further request begin, and tells those under way to end.
    private func begin() throws -> (
        last: (application: any ReplaceableServer, generation: ServiceGeneration)?, rebuild: Rebuild
    ) {
        let (last, rebuild, signals) = state.withLock { state in
            if state.rebuild != nil { state.isResetting = true }
            return (state.served, state.rebuild, Array(state.exchanges.values))
        }
        guard let rebuild else { throw HarnessError.notReady }
        for signal in signals { signal.overtake() }
        return (last, rebuild)
    }

    private func finish() {
        let arrivals = state.withLock { state in
            state.isResetting = false
            defer { state.arrivals = [] }
            return state.arrivals
        }
        for arrival in arrivals { arrival.resume() }
    }

    /// Waits until no request is under way, for a while: the rest of what is being sent is cut off then.
    private func drain() async {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLock { state in
            if state.exchanges.isEmpty { continuation.finish() } else { state.drained = continuation }
        }
        let limit = Task {
            // Cancelled if all have ended before.
            try? await Task.sleep(for: Self.longestDrain)
            continuation.finish()
        }
        for await _ in ends {}
        limit.cancel()
        state.withLock { $0.drained = nil }
    }

    func left(_ number: Int) {
        let now = clock.real.now()
        state.withLock { state in
            state.exchanges[number] = nil
            state.lastUse = now
            if state.exchanges.isEmpty { state.drained?.finish() }
        }
    }

    /// Returns the response to a request that a reset has overtaken.
    static func unavailable(_ request: Request) throws -> Response {
        try Problem(.overloaded, .overtakenByReset, headerFields: [.retryAfter: "0"]).response(to: request)
    }
}

/// Why the server cannot be controlled.
enum HarnessError: Error {
    /// It has not begun to listen.
    case notReady
}
