import Concurrency
package import Foundation
import HTTP
import HTTPTypes
import Logging
import Metrics
import Storage
import Synchronization

/// A change of an upstream's reachability that the rest of Larder is notified of.
package enum ReachabilityChange: Sendable, Equatable {
    /// It can no longer be reached.
    case wentDown(at: Date)
    /// It responds again; the data of its screens has been refreshed.
    case cameBack(at: Date)
}

/// Keeps an upstream's ``Reachability`` and publishes its changes in the order in which they happened. While the
/// upstream is unreachable, it sends probes, so that the recovery is noticed without any client.
final class UpstreamHealth: Sendable {
    private struct State {
        var reachability: Reachability
        /// Waits until it is time for the next probe. There is at most one.
        var waiting: Task<Void, any Error>?
        /// The last probe that was sent.
        var probing: Task<Void, Never>?
        /// When the last probe was sent, or the last failure was noticed.
        var lastAttempt: Date?
        /// Changes that are to be announced, in their order.
        var unannounced: [ReachabilityChange] = []
        var isStopped = false
    }

    /// Shortest time between a failure or a probe and a probe that a read starts, in seconds.
    static let shortestProbeInterval: Double = 2

    /// Sends one probe and records its result in the health that is handed in.
    typealias Probe = @Sendable (UpstreamHealth) async throws(UpstreamError) -> Void

    private let state: Mutex<State>
    private let limitsCredentials: Bool
    private let clock: WallClock
    private let jitter: @Sendable () -> Double
    private let logger: Logger
    private let gauge: Meter
    /// Bumped when responses from the store may have to be made differently: at each change of reachability or pause.
    let version = VersionCounter()
    private let probe: Probe
    private let changes: AsyncStream<ReachabilityChange>.Continuation
    private let announcing: Task<Void, Never>
    /// Probes, and changes that are being announced.
    private let work = WorkUnderWay()

    /// Creates the health of an upstream that has not been tried yet.
    ///
    /// - Parameters:
    ///   - notify: Called for one change after the other; the next waits until it has returned.
    ///   - probe: Called after each pause while the upstream is unreachable.
    init(
        configuration: UpstreamConfiguration,
        clock: WallClock,
        jitter: @escaping @Sendable () -> Double,
        logger: Logger,
        notify: @escaping @Sendable (ReachabilityChange) async -> Void,
        probe: @escaping Probe
    ) {
        state = Mutex(State(reachability: Reachability(probeInterval: configuration.probeInterval)))
        limitsCredentials = configuration.limitsByCredential
        self.probe = probe
        self.clock = clock
        self.jitter = jitter
        self.logger = logger
        gauge = Meter(label: "larder_upstream_reachable", dimensions: [("upstream", configuration.name)])
        gauge.set(1)
        let (stream, continuation) = AsyncStream.makeStream(of: ReachabilityChange.self)
        changes = continuation
        // A task of its own: the request that noticed the change does not wait for the listeners, since refreshing may
        // join this very request.
        announcing = Task { [work] in
            for await change in stream {
                await notify(change)
                work.end()
            }
        }
    }

    deinit { changes.finish() }

    var reachability: Reachability { state.withLock { $0.reachability } }

    /// Returns the pause of requests for an account.
    func pause(for credential: CredentialHash?, at now: Date) -> Reachability.Pause? {
        reachability.pause(for: limitsCredentials ? credential : nil, at: now)
    }

    /// Sends a probe if the upstream is unreachable and none was sent in the last ``shortestProbeInterval`` seconds. So
    /// a read that finds it marked down need not wait for the next scheduled one. The caller does not wait.
    func probeIfIdle() {
        behindRequest { [weak self] in self?.probeUnlessTried() }
    }

    private func probeUnlessTried() {
        let now = clock.now()
        state.withLock { state in
            if !state.reachability.isReachable, Self.isAttemptDue(in: state, at: now) {
                startProbe(in: &state, at: now)
            }
        }
    }

    private static func isAttemptDue(in state: State, at now: Date) -> Bool {
        !state.isStopped
            && state.lastAttempt.map { abs(now.timeIntervalSince($0)) >= shortestProbeInterval } ?? true
    }

    /// Begins a request to the upstream. If it is unreachable, the request takes the place of a probe, and is sent only
    /// if a probe would be (``probeIfIdle()``). While the clock is stopped it is always sent, since no probe becomes
    /// due.
    ///
    /// - Returns: Whether the request is to be sent.
    func beginAttempt() -> Bool {
        let now = clock.now()
        return state.withLock { state in
            guard !state.reachability.isReachable else { return true }
            guard Self.isAttemptDue(in: state, at: now) || clock.standsStill else { return false }
            state.lastAttempt = now
            return true
        }
    }

    /// Sends a probe whatever is known of the upstream. The caller does not wait.
    func probeNow() {
        let now = clock.now()
        state.withLock { state in
            guard !state.isStopped else { return }
            startProbe(in: &state, at: now)
        }
    }

    private func startProbe(in state: inout State, at now: Date) {
        state.lastAttempt = now
        work.begin()
        // In a task of its own: the result of the probe may cancel the one that waits.
        state.probing = Task {
            await self.sendProbe()
            self.work.end()
        }
    }

    /// Records the result of an exchange with the upstream's own origin.
    ///
    /// - Parameter credential: The account for which the request was sent.
    func record(_ result: Result<HTTPResponse, UpstreamError>, credential: CredentialHash? = nil) {
        let credential = limitsCredentials ? credential : nil
        switch result {
        case .success(let response) where UpstreamError.isFailing(response.status):
            // A limit of an account that is not known pauses none.
            let isUnknownAccounts = limitsCredentials && credential == nil && response.status == .tooManyRequests
            let retryAfter =
                isUnknownAccounts ? nil : RetryAfter.seconds(response.headerFields, at: clock.now())
            apply {
                $0.failed(
                    "status \(response.status.code)",
                    status: response.status,
                    retryAfter: retryAfter,
                    credential: credential,
                    at: $1
                )
            }
        case .success: apply { $0.responded(credential: credential, at: $1) }
        case .failure(.unreachable(let reason)):
            let jitter = self.jitter()
            apply { $0.unreachable(reason, at: $1, jitter: jitter) }
        case .failure(.badResponse(_, let reason)): failed(reason)
        case .failure: break  // nothing was sent
        }
    }

    /// Records that the upstream sent a response that cannot be used.
    func failed(_ reason: String) {
        apply { $0.failed(reason, at: $1) }
    }

    /// Forgets failures and pauses, as if the upstream had not been requested yet. Nothing is sent.
    ///
    /// - Returns: Whether it counted as unreachable.
    func forget() -> Bool {
        state.withLock { state in
            let wasDown = !state.reachability.isReachable
            state.waiting?.cancel()
            state.reachability = state.reachability.forgotten
            state.lastAttempt = nil
            gauge.set(1)
            version.bump()
            return wasDown
        }
    }

    /// Ends probing and notifying permanently.
    func stop() {
        changes.finish()
        announcing.cancel()
        work.abandon()
        state.withLock { state in
            state.isStopped = true
            state.waiting?.cancel()
            state.probing?.cancel()
        }
    }

    /// Applies an event. All its consequences happen under one lock, so that gauge, probe and listeners agree on the
    /// last of two concurrent events.
    private func apply(_ event: (inout Reachability, Date) -> Reachability.Transition) {
        let now = clock.now()
        state.withLock { state in
            // A request that was cancelled by stopping says nothing of the upstream.
            guard !state.isStopped else { return }
            let before = state.reachability
            let transition = event(&state.reachability, now)
            if before.isReachable != state.reachability.isReachable
                || !before.hasSamePauses(as: state.reachability)
            {
                version.bump()
            }
            if before.failures != state.reachability.failures { state.lastAttempt = now }
            carryOut(transition, at: now, in: &state)
        }
        behindRequest { [weak self] in self?.announceChanges() }
    }

    /// Starts work that a request has caused: at once, so that other clients profit. While the clock is stopped, it
    /// starts after the response of the request: the order of two concurrent tasks would differ between equal runs.
    private func behindRequest(_ start: @escaping @Sendable () -> Void) {
        if let scope = RequestScope.current, clock.standsStill { scope.follow(start) } else { start() }
    }

    private func carryOut(_ transition: Reachability.Transition, at now: Date, in state: inout State) {
        switch transition {
        case .unchanged: break
        case .stillDown(let pause): schedule(after: pause, in: &state)
        case .wentDown(let pause):
            logger.warning(
                "upstream is unreachable",
                metadata: ["reason": "\(state.reachability.lastError?.reason ?? "")"]
            )
            gauge.set(0)
            schedule(after: pause, in: &state)
            state.unannounced.append(.wentDown(at: now))
        case .cameBack:
            logger.notice("upstream is reachable again")
            gauge.set(1)
            state.waiting?.cancel()
            state.unannounced.append(.cameBack(at: now))
        }
    }

    private func announceChanges() {
        state.withLock { state in
            for change in state.unannounced {
                work.begin()
                changes.yield(change)
            }
            state.unannounced = []
        }
    }

    /// Whether no probe is under way, and every change so far was announced but those of requests that are under way.
    var isSettled: Bool { work.isDone }

    /// Waits until that is so.
    func settle() async { await work.wait() }

    /// Schedules the next probe. It replaces the one that waits, as after a client's request that failed in between.
    private func schedule(after pause: Duration, in state: inout State) {
        // One that is cancelled was replaced, or is not needed any more.
        state.waiting?.cancel()
        state.waiting = clock.schedule(after: pause) { await self.probeWhenDue() }
    }

    /// Sends the probe that is due, and waits for its result and the work that follows.
    private func probeWhenDue() async {
        let probe = state.withLock { state -> Task<Void, Never>? in
            guard !state.isStopped else { return nil }
            startProbe(in: &state, at: clock.now())
            return state.probing
        }
        await probe?.value
        await settle()
    }

    private static func withoutScope(_ work: () async throws(UpstreamError) -> Void) async throws(UpstreamError) {
        let result: Result<Void, UpstreamError> = await RequestScope.$current.withValue(nil) {
            await RequestCause.$current.withValue(.probe) {
                do throws(UpstreamError) {
                    return .success(try await work())
                } catch {
                    return .failure(error)
                }
            }
        }
        try result.get()
    }

    /// Sends a probe. Any response marks the upstream reachable, whatever it says.
    private func sendProbe() async {
        do throws(UpstreamError) {
            // A probe belongs to no request, though one may have started it.
            try await Self.withoutScope { () throws(UpstreamError) in try await probe(self) }
        } catch {
            logger.debug("probe failed", metadata: ["error": "\(error)"])
        }
    }
}

/// Counts pieces of work in the background, so that a server under test can wait until the work that a request has
/// started is done.
final class WorkUnderWay: Sendable {
    private struct State {
        var count = 0
        var isAbandoned = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = Mutex(State())

    /// Whether none is left.
    var isDone: Bool { state.withLock { $0.count == 0 || $0.isAbandoned } }

    /// Counts a piece of work.
    func begin() { state.withLock { $0.count += 1 } }

    /// Ends a piece of work.
    func end() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.count -= 1
            return state.count == 0 ? state.takeWaiting() : []
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Ends all waits: the remaining work will not be done.
    func abandon() {
        let waiting = state.withLock { state in
            state.isAbandoned = true
            return state.takeWaiting()
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Waits until none is left.
    func wait() async {
        await withCheckedContinuation { waiter in
            let isDone = state.withLock { state in
                let isDone = state.count == 0 || state.isAbandoned
                if !isDone { state.waiting.append(waiter) }
                return isDone
            }
            if isDone { waiter.resume() }
        }
    }
}
