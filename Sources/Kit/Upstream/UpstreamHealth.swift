import Foundation
import HTTPSemantics
import HTTPTypes
import Logging
import Metrics
import NIOConcurrencyHelpers

/// Keeps an upstream's ``Reachability``, tells of its changes in the order in which they happened, and probes while it
/// is down: it comes back without any client.
final class UpstreamHealth: Sendable {
    private struct State {
        var reachability: Reachability
        /// Waits until the next probe is due. At most one does.
        var waiting: Task<Void, Never>?
        /// The latest probe that was sent.
        var probing: Task<Void, Never>?
        var isStopped = false
    }

    private let state: NIOLockedValueBox<State>
    private let configuration: UpstreamConfiguration
    private let exchange: RequestExecutor
    private let clock: WallClock
    private let jitter: @Sendable () -> Double
    private let logger: Logger
    private let gauge: Meter
    /// Bumped when what is answered from the store may be another answer from now on.
    let stamp = VersionCounter()
    private let changes: AsyncStream<Upstream.Change>.Continuation
    private let announcing: Task<Void, Never>

    /// `notify` is called for one change after the other; the next waits until it has returned.
    init(
        configuration: UpstreamConfiguration,
        exchange: RequestExecutor,
        clock: WallClock,
        jitter: @escaping @Sendable () -> Double,
        logger: Logger,
        notify: @escaping @Sendable (Upstream.Change) async -> Void
    ) {
        state = NIOLockedValueBox(State(reachability: Reachability(probeInterval: configuration.probeInterval)))
        self.configuration = configuration
        self.exchange = exchange
        self.clock = clock
        self.jitter = jitter
        self.logger = logger
        gauge = Meter(label: "larder_upstream_reachable", dimensions: [("upstream", configuration.name)])
        gauge.set(1)
        let (stream, continuation) = AsyncStream.makeStream(of: Upstream.Change.self)
        changes = continuation
        // A task of its own: who found out does not wait for those who are told, since refreshing may ask for the very
        // thing that it is about to answer.
        announcing = Task {
            for await change in stream { await notify(change) }
        }
    }

    deinit { changes.finish() }

    var reachability: Reachability { state.withLockedValue { $0.reachability } }

    /// What the upstream itself came to.
    func record(_ result: Result<IncomingResponse, UpstreamError>) {
        switch result {
        case .success(let response) where UpstreamError.isFailing(response.status):
            let retryAfter = RetryAfter.seconds(response.headerFields, at: clock.now())
            apply {
                $0.failed("status \(response.status.code)", status: response.status, retryAfter: retryAfter, at: $1)
            }
        case .success: apply { $0.responded(at: $1) }
        case .failure(.unreachable(let reason)):
            let jitter = self.jitter()
            apply { $0.unreachable(reason, at: $1, jitter: jitter) }
        case .failure(.badResponse(_, let reason)): failed(reason)
        case .failure: break  // nothing was sent
        }
    }

    /// It answered, but what came is of no use.
    func failed(_ reason: String) {
        apply { $0.failed(reason, at: $1) }
    }

    /// Ends probing and telling for good.
    func stop() {
        changes.finish()
        announcing.cancel()
        state.withLockedValue { state in
            state.isStopped = true
            state.waiting?.cancel()
            state.probing?.cancel()
        }
    }

    /// Everything that follows from an event happens under one lock, so that two at once cannot leave the gauge, the
    /// probe and the listeners with different ends.
    private func apply(_ event: (inout Reachability, Date) -> Reachability.Transition) {
        let now = clock.now()
        state.withLockedValue { state in
            // What is cancelled by stopping says nothing about the upstream.
            guard !state.isStopped else { return }
            let before = state.reachability
            let transition = event(&state.reachability, now)
            if before.isReachable != state.reachability.isReachable
                || before.pausedUntil != state.reachability.pausedUntil
            {
                stamp.bump()
            }
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
                changes.yield(.wentDown(at: now))
            case .cameBack:
                logger.notice("upstream is reachable again")
                gauge.set(1)
                state.waiting?.cancel()
                changes.yield(.cameBack(at: now))
            }
        }
    }

    /// One probe waits at a time: a failed client request in between replaces it.
    private func schedule(after pause: Duration, in state: inout State) {
        state.waiting?.cancel()
        state.waiting = Task {
            do {
                try await self.clock.sleep(pause)
            } catch {
                return  // replaced, not needed any more, or stopped
            }
            self.state.withLockedValue { state in
                guard !state.isStopped else { return }
                // In a task of its own: what the probe finds out may cancel this one.
                state.probing = Task { await self.probe() }
            }
        }
    }

    /// Asks for the probe path; any answer at all brings the upstream back, and only that is the purpose.
    private func probe() async {
        do throws(UpstreamError) {
            _ = try await exchange.run(
                OutgoingRequest(url: configuration.url(of: configuration.probePath)),
                record: record
            )
        } catch {
            logger.debug("probe failed", metadata: ["error": "\(error)"])
        }
    }
}
