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

    func forgetResponses(of upstream: String) async throws {
        guard let application else { return }
        _ = try await CachePurge(upstream: upstream).run(on: application.database)
    }

    func setClock(_ time: Date?, frozen: Bool?) async -> Bool { await clock.set(time, frozen: frozen) }

    func advanceClock(by seconds: Double) async { await clock.advance(by: seconds) }

    /// Waits for the background work that a request has started: a probe, and the refresh behind a recovery. While the
    /// clock is stopped this is part of the request, so that equal runs send the same requests in the same order; but
    /// it waits no longer than ``longestSettling``.
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

extension Harness {
    /// Responds by the server, as the faults of the request have it.
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

    /// Notes the outcome of a request: its route, status, and code of a problem.
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

    /// Returns the problem that stands for a status; nil if no problem of Larder has it.
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

    /// Builds the server anew with its own data: times that it holds in memory may be ahead of the machine's.
    ///
    /// - Throws: As ``replace(by:meanwhile:)``.
    func followRealTime() async throws { try await replace(by: nil) { [clock] in clock.restore(.real) } }

    /// Replaces the stored data of the server; ports, process and certificate stay.
    ///
    /// - Parameters:
    ///   - contents: The new data; nil for the present data.
    ///   - meanwhile: Called when no request of the old state is left, and none of the new one has begun.
    /// - Throws: ``HarnessError``; the errors of the composition root, after which the server responds with 503 until
    ///   the next attempt; those of the end of the old server, after which the new one is served.
    func replace(by contents: (any StoreContents)?, meanwhile: @escaping @Sendable () -> Void) async throws {
        try await resets.withPermit { [self] in
            // A task of its own: if its caller is cancelled, a replacement is not left half done.
            try await Task { try await replaceNow(by: contents, meanwhile) }.value
        }
    }

    private func replaceNow(by contents: (any StoreContents)?, _ meanwhile: @Sendable () -> Void) async throws {
        let (last, rebuild) = try begin()
        defer { finish() }
        let ended = await end(last)
        meanwhile()
        begin(try await rebuild(contents), rebuild: rebuild)
        // The memory of the old server is freed in the background, not before the response.
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

    /// Waits a while until no request is under way; then cuts off the remaining responses.
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

/// The files with which the data directory of a server under test begins. This process has made them, so that they need
/// no check and no migration.
protocol StoreContents: Sendable {
    /// Whether the key that seals the secrets is among them; otherwise that of the directory stays.
    var hasKey: Bool { get }

    /// Writes the files into a directory that has nothing but its lock and ``PristineDirectory/lasting``.
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
