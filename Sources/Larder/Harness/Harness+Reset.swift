import Concurrency
import Database
import Foundation
import Hummingbird
import Sandbox
import Screens
import Synchronization

extension Harness {
    /// Replaces all state of the server by that of a new data directory; ports, process, certificate and key stay.
    ///
    /// - Parameter upstreams: Resets the simulated upstreams; called when no request of the old state is left.
    /// - Throws: ``HarnessError``; the errors of the composition root, after which the server responds with 503.
    func reset(_ upstreams: @escaping @Sendable () -> Void) async throws {
        try await resets.withPermit { [self] in
            let (last, generation, rebuild) = try begin()
            defer { finish() }
            await generation.retire()
            last.stop()
            await drain()
            try await last.close()
            state.withLock { $0.application = nil }
            upstreams()
            clock.reset()
            front.clear()
            frontFaults.reset()
            let key = try SavedKey(in: last.directory)
            try last.directory.removeContents(but: PristineDirectory.lasting)
            begin(try await rebuild(key), rebuild: rebuild)
        }
    }

    /// Lets no further request begin, and tells those under way to end.
    private func begin() throws -> (any ReplaceableServer, ServiceGeneration, Rebuild) {
        let (parts, signals) = state.withLock { state in
            guard let application = state.application, let generation = state.generation, let rebuild = state.rebuild
            else { return (nil as (any ReplaceableServer, ServiceGeneration, Rebuild)?, [OvertakingSignal]()) }
            state.isResetting = true
            return ((application, generation, rebuild), Array(state.exchanges.values))
        }
        guard let parts else { throw HarnessError.notReady }
        for signal in signals { signal.overtake() }
        return parts
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
        state.withLock { state in
            state.exchanges[number] = nil
            if state.exchanges.isEmpty { state.drained?.finish() }
        }
    }

    /// The response to a request that a reset has overtaken.
    static var unavailable: Response {
        let body = """
            {"type":"urn:larder:problem:overloaded","title":"Larder is overloaded","status":503,\\
            "detail":"All state was reset while this request was under way.","code":"overloaded"}

            """
        return Response(
            status: .serviceUnavailable,
            headers: [.contentType: "application/problem+json", .retryAfter: "0", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: body))
        )
    }
}

/// Why the server cannot be controlled.
enum HarnessError: Error {
    /// It has not begun to listen.
    case notReady
}
