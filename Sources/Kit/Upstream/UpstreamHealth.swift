import Foundation
import Logging
import Metrics
import NIOConcurrencyHelpers

/// Keeps an upstream's ``Reachability``, tells of its changes, and probes while it is down: it comes back without any client.
final class UpstreamHealth: Sendable {
    /// What the rest of Larder hears about.
    enum Change: Sendable, Equatable {
        case wentDown(at: Date)
        case cameBack(at: Date)
    }

    private struct State {
        var reachability: Reachability
        var probe: Task<Void, Never>?
        var isStopped = false
    }

    private let state: NIOLockedValueBox<State>
    private let clock: WallClock
    private let jitter: @Sendable () -> Double
    private let logger: Logger
    private let gauge: Meter
    private let notify: @Sendable (Change) async -> Void
    private let probe: @Sendable () async -> Void

    init(
        configuration: UpstreamConfiguration,
        clock: WallClock,
        jitter: @escaping @Sendable () -> Double,
        logger: Logger,
        probe: @escaping @Sendable () async -> Void,
        notify: @escaping @Sendable (Change) async -> Void
    ) {
        state = NIOLockedValueBox(State(reachability: Reachability(probeInterval: configuration.probeInterval)))
        self.clock = clock
        self.jitter = jitter
        self.logger = logger
        self.probe = probe
        self.notify = notify
        gauge = Meter(label: "larder_upstream_reachable", dimensions: [("upstream", configuration.name)])
        gauge.set(1)
    }

    var reachability: Reachability { state.withLockedValue { $0.reachability } }

    /// Any answer came.
    func answered() async {
        let now = clock.now()
        await apply(state.withLockedValue { $0.reachability.answered(at: now) })
    }

    /// An error status or an unusable body came.
    func failed(_ reason: String, retryAfter: Int?) async {
        let now = clock.now()
        await apply(state.withLockedValue { $0.reachability.failed(reason, retryAfter: retryAfter, at: now) })
    }

    /// No answer came.
    func unreachable(_ reason: UnreachableReason) async {
        let now = clock.now()
        let jitter = self.jitter()
        await apply(state.withLockedValue { $0.reachability.unreachable(reason, at: now, jitter: jitter) })
    }

    /// Ends probing for good.
    func stop() {
        state.withLockedValue { state in
            state.isStopped = true
            state.probe?.cancel()
            state.probe = nil
        }
    }

    private func apply(_ transition: Reachability.Transition) async {
        switch transition {
        case .unchanged:
            break
        case .wentDown(let pause):
            logger.warning("upstream is unreachable", metadata: ["reason": "\(reachability.lastError?.reason ?? "")"])
            gauge.set(0)
            schedule(after: pause)
            await notify(.wentDown(at: clock.now()))
        case .stillDown(let pause):
            schedule(after: pause)
        case .cameBack:
            logger.notice("upstream is reachable again")
            gauge.set(1)
            state.withLockedValue { state in
                state.probe?.cancel()
                state.probe = nil
            }
            await notify(.cameBack(at: clock.now()))
        }
    }

    /// One probe waits at a time: a failed client request in between replaces it.
    private func schedule(after pause: Duration) {
        state.withLockedValue { state in
            guard !state.isStopped else { return }
            state.probe?.cancel()
            state.probe = Task {
                do {
                    try await self.clock.sleep(pause)
                } catch {
                    return  // replaced or stopped
                }
                // In a task of its own: what the probe finds out may cancel this one.
                Task { await self.probe() }
            }
        }
    }
}
