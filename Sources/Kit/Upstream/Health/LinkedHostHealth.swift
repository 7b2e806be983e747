import Foundation
import Freshness
import Synchronization

/// The reachability of the hosts that an upstream links to, such as those of uploads, downloads and pictures. It says
/// nothing of the API, nor the API's of them.
///
/// There are no probes: a host that was not reached counts as unreachable for a pause, then the next read tries it.
final class LinkedHostHealth: Sendable {
    private struct Host {
        var reachability: Reachability
        var nextAttempt: Date
    }

    /// Largest number of hosts that are remembered.
    static let mostHosts = 1000

    private let probeInterval: Duration
    private let hosts = Mutex<[String: Host]>([:])

    init(probeInterval: Duration) {
        self.probeInterval = probeInterval
    }

    /// Whether a host is to be tried.
    func isReachable(_ host: String, at now: Date) -> Bool {
        hosts.withLock { $0[host].map { now >= $0.nextAttempt } ?? true }
    }

    /// Forgets all failures.
    func forget() { hosts.withLock { $0 = [:] } }

    /// Records that a host sent a response.
    func responded(_ host: String) { hosts.withLock { $0[host] = nil } }

    /// Records that a host was not reached.
    ///
    /// - Parameter jitter: A number in 0..<1.
    func unreachable(_ host: String, _ reason: UnreachableReason, at now: Date, jitter: Double) {
        hosts.withLock { hosts in
            if hosts.count >= Self.mostHosts { hosts = hosts.filter { $0.value.nextAttempt > now } }
            guard hosts.count < Self.mostHosts || hosts[host] != nil else { return }
            var reachability = hosts[host]?.reachability ?? Reachability(probeInterval: probeInterval)
            let pause: Duration =
                switch reachability.unreachable(reason, at: now, jitter: jitter) {
                case .wentDown(let pause), .stillDown(let pause): pause
                case .cameBack, .unchanged: .zero
                }
            hosts[host] = Host(reachability: reachability, nextAttempt: now.addingTimeInterval(pause.seconds))
        }
    }
}
