import Concurrency
import Foundation
import HTTPTypes
import Synchronization

/// The health of the hosts that an upstream links to, such as those of uploads, downloads and pictures. It says nothing
/// of the API.
///
/// There are no probes: a host that was not reached counts as unreachable for a pause, then one read tries it. It also
/// counts as unreachable while it owes a response for longer than a client waits for a picture.
final class LinkedHostHealth: Sendable {
    /// A request that waits for a response of a host.
    struct Wait: Sendable, Hashable {
        fileprivate let host: String
        fileprivate let number: Int
    }

    private struct Host {
        var reachability: Reachability
        /// The end of the pause after a failure.
        var nextAttempt = Date.distantPast
        /// Since when requests wait, or have waited when the host sent its last response.
        var waits: [Wait: Date] = [:]

        /// A pause that ends later than any pause can was begun before the clock was set back.
        func mayBeTried(at now: Date) -> Bool {
            let pause = nextAttempt.timeIntervalSince(now)
            return (pause <= 0 || pause > 2 * Reachability.longestPause.seconds)
                && !waits.values.contains { now.timeIntervalSince($0) >= Resource.pictureWait.seconds }
        }

        func isForgettable(at now: Date) -> Bool {
            now >= nextAttempt && waits.isEmpty && reachability.pause(at: now) == nil
        }
    }

    private struct State {
        var hosts: [String: Host] = [:]
        var lastNumber = 0
    }

    /// Largest number of hosts that are remembered.
    static let mostHosts = 1000

    private let probeInterval: Duration
    private let state = Mutex(State())

    init(probeInterval: Duration) {
        self.probeInterval = probeInterval
    }

    /// Whether a host is to be tried.
    func isReachable(_ host: String, at now: Date) -> Bool {
        state.withLock { $0.hosts[host]?.mayBeTried(at: now) ?? true }
    }

    /// Begins an attempt. Of several that find a pause to be over, one tries the host.
    ///
    /// - Returns: Whether the caller is to try it.
    func beginAttempt(_ host: String, at now: Date) -> Bool {
        state.withLock { state in
            guard let known = state.hosts[host] else { return true }
            guard known.mayBeTried(at: now) else { return false }
            if !known.reachability.isReachable {
                state.hosts[host]?.nextAttempt = now.addingTimeInterval(Resource.pictureWait.seconds)
            }
            return true
        }
    }

    /// Returns the pause that a host requested with `Retry-After`; nil if there is none.
    func pause(_ host: String, at now: Date) -> Reachability.Pause? {
        state.withLock { $0.hosts[host]?.reachability.pause(at: now) }
    }

    func forget() { state.withLock { $0.hosts = [:] } }

    /// Records that a request waits for a response of a host.
    func began(_ host: String, at now: Date) -> Wait {
        let wait = state.withLock { state in
            state.lastNumber += 1
            return Wait(host: host, number: state.lastNumber)
        }
        update(host, at: now) { $0.waits[wait] = now }
        return wait
    }

    /// Records that a request does not wait any more.
    func ended(_ wait: Wait) { state.withLock { _ = $0.hosts[wait.host]?.waits.removeValue(forKey: wait) } }

    /// Records that a host sent a response.
    ///
    /// - Parameter retryAfter: Its `Retry-After` in seconds.
    func responded(_ host: String, _ status: HTTPResponse.Status, retryAfter: Int?, at now: Date) {
        update(host, at: now) { known in
            _ =
                UpstreamError.isFailing(status)
                ? known.reachability.failed("\(status.code)", status: status, retryAfter: retryAfter, at: now)
                : known.reachability.responded(at: now)
            known.nextAttempt = .distantPast
            known.waits = known.waits.mapValues { _ in now }
        }
    }

    /// Records that a host was not reached.
    ///
    /// - Parameter jitter: A number in 0..<1.
    func unreachable(_ host: String, _ reason: UnreachableReason, at now: Date, jitter: Double) {
        update(host, at: now) { known in
            let pause: Duration =
                switch known.reachability.unreachable(reason, at: now, jitter: jitter) {
                case .wentDown(let pause), .stillDown(let pause): pause
                case .cameBack, .unchanged: .zero
                }
            known.nextAttempt = now.addingTimeInterval(pause.seconds)
        }
    }

    private func update(_ host: String, at now: Date, _ change: (inout Host) -> Void) {
        state.withLock { state in
            if state.hosts.count >= Self.mostHosts {
                state.hosts = state.hosts.filter { !$0.value.isForgettable(at: now) }
            }
            guard state.hosts.count < Self.mostHosts || state.hosts[host] != nil else { return }
            var known = state.hosts[host] ?? Host(reachability: Reachability(probeInterval: probeInterval))
            change(&known)
            let isWell = known.reachability.isReachable && known.isForgettable(at: now)
            state.hosts[host] = isWell ? nil : known
        }
    }
}
