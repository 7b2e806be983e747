import Concurrency
import Foundation
import HTTPTypes
import Hummingbird
import JSONValues
import NIOCore
import Sandbox
import Screens
import Server
import Storage
import Synchronization
import Upstream

extension Harness: HarnessedServer {
    var now: Date { clock.now }
    var isFrozen: Bool { clock.isFrozen }
    var isShifted: Bool { clock.isShifted }
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
        // The permit keeps a reset from replacing the server meanwhile.
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

    func forgetResponses(of upstream: String) async throws {
        guard let application else { return }
        _ = try await CachePurge(upstream: upstream).run(on: application.database)
    }

    func setClock(_ time: Date?, frozen: Bool?) async -> Bool { await clock.set(time, frozen: frozen) }

    func advanceClock(by seconds: Double) async { await clock.advance(by: seconds) }

    /// Waits for the background work that a request has started: a probe, and the refresh after a recovery. While the
    /// clock is stopped, this work is part of the request, so that equal runs send the same requests in the same order.
    /// The wait is limited to ``longestSettling``.
    func settle(_ application: any ReplaceableServer) async {
        let busy = application.upstreams.filter { !$0.isSettled }
        guard !busy.isEmpty else { return }
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        Task {
            for upstream in busy { await upstream.settle() }
            continuation.finish()
        }
        let limit = Task { [clock] in
            // Cancelled if all upstreams have settled before.
            try? await clock.real.sleep(Self.longestSettling)
            continuation.finish()
        }
        // The loop also ends if the request is cancelled.
        for await _ in ends {}
        limit.cancel()
    }
}

extension Harness {
    /// Lets the server respond, and applies the faults of the request.
    static func respond(
        to request: Request,
        _ context: ScreenContext,
        _ application: any ReplaceableServer,
        _ entry: FrontRequest?
    ) async throws -> Response {
        guard let entry, entry.isFaulty else {
            return try await application.responder.respond(to: request, context: context)
        }
        return try await entry.respond(to: request, on: context.channel) { request in
            try await application.responder.respond(to: request, context: context)
        } refusal: { status, retryAfter in
            guard let problem = problem(of: status, retryAfter) else { return nil }
            return try await Problem.$injected.withValue(problem) {
                try await application.responder.respond(to: request, context: context)
            }
        }
    }

    /// Records the outcome of a request: its route, its status, and the code of a problem.
    func note(_ response: inout Response, to request: Request, _ context: ScreenContext) async throws {
        guard let coverage, let route = context.endpointPath, route != "NotFound" else { return }
        let collected = CollectedBody()
        if FrontCoverage.isProblem(response.headers) {
            try await response.body.write(collected)
            response.body = ResponseBody(byteBuffer: collected.bytes.withLock { $0 })
        }
        let state = FrontCoverage.state(
            of: response.headers,
            collected.bytes.withLock { Array($0.readableBytesView) }
        )
        let name = "\(request.method.rawValue) \(route)"
        coverage.all.note(.init(route: name, status: response.status.code, state: state), under: coverage.condition)
    }

    /// Returns the usual problem with a status; nil if no problem of Larder has that status.
    static func problem(of status: HTTPResponse.Status, _ retryAfter: Int?) -> Problem? {
        guard let code = usual[status] ?? ProblemCode.common.first(where: { $0.status == status }) else { return nil }
        var fields: HTTPFields = [:]
        fields[.retryAfter] = retryAfter.map { String($0) }
        return Problem(code, "A test has set this fault.", headerFields: fields)
    }

    /// The most frequent problem of a status that has several.
    private static let usual: [HTTPResponse.Status: ProblemCode] = [
        .unauthorized: .sessionExpired, .forbidden: .upstreamForbidden, .conflict: .targetExists,
        .badGateway: .upstreamBadResponse, .serviceUnavailable: .overloaded, .init(code: 507): .storageFull,
    ]

    /// Replaces all state of the server by that of a new data directory. Ports, process, certificate and key remain.
    ///
    /// - Parameter upstreams: Resets the simulated upstreams. It is called when no request of the old state is left.
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

    /// Builds a new server with the present data, because times in the old server's memory may be ahead of the
    /// machine's.
    ///
    /// - Throws: As ``replace(by:meanwhile:)``.
    func followRealTime() async throws { try await replace(by: nil) { [clock] in clock.restore(.real) } }

    /// Replaces the stored data of the server. Ports, process and certificate remain.
    ///
    /// - Parameters:
    ///   - contents: The new data; nil for the present data.
    ///   - meanwhile: Is called when no request of the old state is left, and none of the new one has begun.
    /// - Throws: ``HarnessError``. Errors of the composition root: the server then responds with 503 until the next
    ///   attempt. Errors at the end of the old server: the new one is served nevertheless.
    func replace(by contents: (any StoreContents)?, meanwhile: @escaping @Sendable () -> Void) async throws {
        try await resets.withPermit { [self] in
            // In a task of its own, so that the cancellation of the caller does not interrupt the replacement.
            try await Task { try await replaceNow(by: contents, meanwhile) }.value
        }
    }

    private func replaceNow(by contents: (any StoreContents)?, _ meanwhile: @Sendable () -> Void) async throws {
        let (last, rebuild) = try begin()
        defer { finish() }
        let ended = await end(last)
        meanwhile()
        begin(try await rebuild(contents), rebuild: rebuild)
        // Freeing the memory of the old server takes time, so the response does not wait for it.
        Task { withExtendedLifetime(last) {} }
        try ended.get()
    }

    /// Ends a server. It is no longer served, even if it fails to close.
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

    /// Blocks new requests, and tells running ones to end.
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

    /// Waits until no request is running, at most ``longestDrain``.
    private func drain() async {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLock { state in
            if state.exchanges.isEmpty { continuation.finish() } else { state.drained = continuation }
        }
        let limit = Task {
            // Cancelled if all requests have ended before.
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

    /// Returns the response to a request during which the server was reset.
    static func unavailable(_ request: Request) throws -> Response {
        try Problem(.overloaded, .overtakenByReset, headerFields: [.retryAfter: "0"]).response(to: request)
    }
}

/// Why the server cannot be controlled.
enum HarnessError: Error {
    /// The server does not listen yet.
    case notReady
}

/// The first files in the data directory of a server under test. This process has made them, so they need no check and
/// no migration.
protocol StoreContents: Sendable {
    /// Whether the key that seals the secrets is among them; otherwise the key in the directory is kept.
    var hasKey: Bool { get }

    /// Writes the files into a directory that contains only its lock and ``PristineDirectory/lasting``.
    ///
    /// - Throws: `StorageError`; file errors.
    func write(to directory: DataDirectory) throws
}

/// The body of a problem, which is short.
private final class CollectedBody: ResponseBodyWriter, Sendable {
    let bytes = Mutex(ByteBuffer())

    func write(_ buffer: ByteBuffer) async throws { bytes.withLock { _ = $0.writeImmutableBuffer(buffer) } }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
