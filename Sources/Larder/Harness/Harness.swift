import Concurrency
import Foundation
import Hummingbird
import Logging
import NIOPosix
import Sandbox
import Screens
import Server
import Storage
import Synchronization
import Upstream

/// The server under the control of a harness. All requests pass through the harness, so that it can replace the whole
/// state between two of them by that of a new data directory.
///
/// A reset builds a new server through the composition root, so no part of the server has to register for it.
final class Harness: Sendable {
    /// Longest time that a reset waits for requests that were told to end.
    static let longestDrain: Duration = .seconds(5)
    /// Longest time that a response waits for the work that its request has started while the clock is stopped.
    static let longestSettling: Duration = .seconds(1)

    struct State {
        /// Nil before the first server, and if none could be built.
        var served: (application: any ReplaceableServer, generation: ServiceGeneration)?
        var rebuild: Rebuild?
        /// Whether every request passes through the harness and the response cache is not used.
        var isActive = false
        var isResetting = false
        var exchanges: [Int: OvertakingSignal] = [:]
        var lastNumber = 0
        var arrivals: [CheckedContinuation<Void, Never>] = []
        var drained: AsyncStream<Void>.Continuation?
        /// The end of the last request or control.
        var lastUse = Date.distantPast
    }

    /// Builds a server in the directory of the one that has ended, with new contents, or with the present data if they
    /// are nil.
    typealias Rebuild = @Sendable (_ contents: (any StoreContents)?) async throws -> any ReplaceableServer

    /// The clock that the server and its simulated upstreams share.
    let clock: VirtualClock
    let front = FrontJournal()
    /// The states that clients have met, by condition; nil if they are not needed.
    let coverage: (all: FrontCoverage, condition: String)?
    let frontFaults: FrontFaults
    let snapshots = Snapshots()
    /// The path of the archive that is written at the end; nil for none.
    let exportPath: String?
    /// The tokens of sessions, by app, that requests without a token get.
    private let sessions: [String: String]
    /// The generations of the server's services, one after the other.
    let generations: AsyncStream<ServiceGeneration>
    private let newGeneration: AsyncStream<ServiceGeneration>.Continuation
    let state = Mutex(State())
    private let relaying = Mutex<HTTPClientTransport?>(nil)
    let resets = AsyncSemaphore(permits: 1, maximumWaiting: 100)
    /// The spaces of this process; nil for a space itself.
    let spaces: (any HarnessedSpaces)?
    /// The random numbers of the server; nil for the system's.
    let randomness: Randomness?
    /// The contents after a reset.
    let pristine: any StoreContents

    /// Creates the harness of a server that is not built yet.
    init(
        clock: VirtualClock,
        randomness: Randomness? = nil,
        pristine: any StoreContents,
        spaces: (any HarnessedSpaces)? = nil,
        exportPath: String? = nil,
        condition: HarnessCondition? = nil,
        coverage: FrontCoverage? = nil,
        sessions: [String: String] = [:]
    ) {
        self.sessions = sessions
        self.coverage = coverage.map { ($0, condition?.text ?? "") }
        frontFaults = FrontFaults(condition)
        self.randomness = randomness
        self.clock = clock
        self.pristine = pristine
        self.spaces = spaces
        self.exportPath = exportPath
        (generations, newGeneration) = AsyncStream.makeStream()
    }

    func begin(_ application: any ReplaceableServer, rebuild: @escaping Rebuild) {
        let generation = ServiceGeneration(application.services)
        let isActive = state.withLock { state in
            state.served = (application, generation)
            state.rebuild = rebuild
            return state.isActive
        }
        if isActive { application.responseCache?.close() }
        if case .terminated = newGeneration.yield(generation) { generation.abandon() }
    }

    /// Sends clients' requests for controls to the sandbox's port. It outlives the server, which the controls may
    /// replace.
    func relay() -> HTTPClientTransport {
        relaying.withLock { transport in
            let used = transport ?? HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(5))
            transport = used
            return used
        }
    }

    /// Ends the requests for controls.
    /// - Throws: the errors of async-http-client.
    func closeRelay() async throws {
        try await relaying.withLock { transport in
            defer { transport = nil }
            return transport
        }?.shutdown()
    }

    /// Writes the archive of the present server if there is to be one, and closes the server, after a running reset.
    /// Its services must have ended.
    ///
    /// - Parameter upstreams: Returns the data of the simulated upstreams as files.
    /// - Throws: as ``ReplaceableServer/close()``; ``Archive/Refusal`` if the archive cannot be written.
    func close(_ upstreams: @escaping @Sendable () throws -> [String: Data]) async throws {
        newGeneration.finish()
        state.withLock { $0.served?.generation }?.abandon()
        // In a task of its own, so that the server is closed even if this task is cancelled.
        try await Task { [self] in
            try await resets.withPermit {
                let last = state.withLock { state in
                    defer { (state.served, state.rebuild) = (nil, nil) }
                    return state.served?.application
                }
                let exported = Result { try last.map { try export($0, upstreams) } }
                try await last?.close()
                _ = try exported.get()
            }
        }.value
    }

    /// The present server; nil before ``begin(_:rebuild:)``.
    var application: (any ReplaceableServer)? { state.withLock { $0.served?.application } }

    /// The end of the last request or control; nil while a request is running.
    var unusedSince: Date? { state.withLock { $0.exchanges.isEmpty ? $0.lastUse : nil } }

    // MARK: Requests

    /// Lets the present server respond. The response is 503 if a reset begins before the server's response is ready.
    func respond(to request: Request, _ context: ScreenContext) async throws -> Response {
        let request = signedIn(request)
        let controls = SandboxRoutes.Controls(target: request.head.path ?? "")
        let exchange = await enter(for: controls)
        guard let application = exchange.application else { return try Self.unavailable(request) }
        let entry = exchange.isRecorded ? front.begin(request.head, at: now, frontFaults) : nil
        let (recorded, body) = entry?.recording(request) ?? (request, nil)
        let work = Task {
            let response = try await RequestCause.$current.withValue(
                entry.map { .request($0.number, waits: $0.waits) }
            ) {
                try await Self.respond(to: recorded, context, application, entry)
            }
            if clock.isFrozen { await settle(application) }
            return response
        }
        exchange.signal.onOvertaking { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        var response = try Self.response(result, to: request, isSuperseded: exchange.signal.isSuperseded)
        await body?.readRest()
        entry?.complete(response.head, bytes: response.body.contentLength, at: now)
        if entry != nil { try await note(&response, to: request, context) }
        if entry != nil, response.headers[.contentType]?.hasPrefix("text/event-stream") == true {
            response.body = frontFaults.following(response.body, of: request.head, on: context.channel)
        }
        if response.body.contentLength != 0, request.method != .head {
            response.body = exchange.following(response.body)
        }
        return response
    }

    /// Returns a request with the configured session of its app, if it has none itself.
    private func signedIn(_ request: Request) -> Request {
        guard !sessions.isEmpty, request.headers[.authorization] == nil,
            let app = (request.head.path ?? "").split(whereSeparator: { "/?".contains($0) }).dropFirst().first,
            let token = sessions[String(app)]
        else { return request }
        var head = request.head
        head.headerFields[.authorization] = "Bearer \(token)"
        return Request(head: head, body: request.body)
    }

    private static func response(
        _ result: Result<Response, any Error>,
        to request: Request,
        isSuperseded: Bool
    ) throws -> Response {
        guard isSuperseded else { return try result.get() }
        if case .success(let response) = result, response.status.code < 500 { return response }
        return try unavailable(request)
    }

    /// Counts a request after any running reset. Requests for controls are not recorded in the journal. A reset does
    /// not wait for a request to the harness, because that may be the one that has started the reset.
    private func enter(for controls: SandboxRoutes.Controls?) async -> HarnessExchange {
        while true {
            let exchange = state.withLock { state -> HarnessExchange? in
                guard !state.isResetting else { return nil }
                state.lastNumber += 1
                let number = state.lastNumber
                let isRecorded = state.isActive && controls == nil
                let exchange = HarnessExchange(state.served?.application, isRecorded: isRecorded) { [weak self] in
                    self?.left(number)
                }
                if controls != .harness { state.exchanges[number] = exchange.signal }
                return exchange
            }
            if let exchange { return exchange }
            await withCheckedContinuation { arrival in
                let isOver = state.withLock { state in
                    if state.isResetting { state.arrivals.append(arrival) }
                    return !state.isResetting
                }
                if isOver { arrival.resume() }
            }
        }
    }
}

/// A running request, from its arrival until its response is written or abandoned. It ends with this value.
final class HarnessExchange: Sendable {
    /// The server that responds to it; nil if there is none.
    let application: (any ReplaceableServer)?
    let isRecorded: Bool
    let signal = OvertakingSignal()
    private let ended: @Sendable () -> Void

    init(_ application: (any ReplaceableServer)?, isRecorded: Bool, ended: @escaping @Sendable () -> Void) {
        self.application = application
        self.isRecorded = isRecorded
        self.ended = ended
    }

    deinit { ended() }

    /// Returns a body that keeps the exchange alive until it is sent.
    func following(_ body: ResponseBody) -> ResponseBody {
        ResponseBody(contentLength: body.contentLength) { [self] writer in
            defer { withExtendedLifetime(self) {} }
            try await body.write(writer)
        }
    }
}

/// Tells a request that the server is reset.
final class OvertakingSignal: Sendable {
    private enum State {
        case quiet((@Sendable () -> Void)?)
        case overtaken
    }

    private let state = Mutex(State.quiet(nil))

    var isSuperseded: Bool { state.withLock { if case .overtaken = $0 { true } else { false } } }

    /// Sets the action for the reset. Runs it at once if the reset has begun.
    func onOvertaking(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if case .overtaken = state { return true }
            state = .quiet(action)
            return false
        }
        if isLate { action() }
    }

    func overtake() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .quiet(let action) = state else { return nil }
            state = .overtaken
            return action
        }
        action?()
    }
}
