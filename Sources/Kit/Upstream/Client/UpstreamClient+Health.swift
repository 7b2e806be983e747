package import Foundation
package import Freshness
import HTTPSemantics
import HTTPTypes
package import ResponseStore

extension UpstreamClient {
    /// Whether the upstream can be reached, as far as is known.
    package var reachability: Reachability { health.reachability }

    /// Counts the changes of ``reachability`` that responses from the store depend on.
    package var reachabilityVersion: VersionCounter { health.version }

    /// Returns the pause that the upstream requested, for the requests of an account or all; nil if there is none.
    package func pause(for credential: CredentialHash?, at now: Date) -> Reachability.Pause? {
        health.pause(for: credential, at: now)
    }

    /// Whether requests to a URL are to be tried, as far as is known of its host.
    func isReachable(_ url: String, at now: Date) -> Bool {
        isOwnOrigin(url) ? reachability.isReachable : linkedHosts.isReachable(Self.host(of: url), at: now)
    }

    /// Sends a probe in the background if the upstream is unreachable and none was sent just now.
    package func probeIfIdle() { health.probeIfIdle() }

    /// Records the result of a request in the health of its target.
    func record(
        _ result: Result<HTTPResponse, UpstreamError>,
        of request: some OutgoingMessage,
        at target: TargetRules.Target
    ) {
        guard target != .ownOrigin else { return health.record(result, credential: request.credential) }
        let host = Self.host(of: request.url)
        switch result {
        case .success: linkedHosts.responded(host)
        case .failure(.unreachable(let reason)):
            linkedHosts.unreachable(host, reason, at: clock.now(), jitter: jitter())
        case .failure: break
        }
    }

    /// Returns the origin of a URL with the first segment of its path, which tells services of one origin apart.
    private static func host(of url: String) -> String {
        let parts = URIParts(url)
        let segment = parts.path.split(separator: "/").first ?? ""
        return "\(parts.scheme ?? "")://\(parts.authority?.lowercased() ?? "")/\(segment)"
    }

    /// Whether a URL is one of the API itself. Other hosts say nothing of its health.
    func isOwnOrigin(_ url: String) -> Bool { targets.target(of: url) == .ownOrigin }

    /// Records that the response to a request at this URL cannot be used, if it is the upstream's own.
    func recordUnusable(_ url: String, _ reason: String) {
        if isOwnOrigin(url) { health.failed(reason) }
    }

    /// Records that the body of a response broke off. Says nothing if the client of the running task has left.
    package func recordBrokenBody() {
        if !Task.isCancelled { health.failed(UpstreamError.cutShort) }
    }
}
