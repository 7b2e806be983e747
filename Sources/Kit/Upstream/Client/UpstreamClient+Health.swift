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
    func isReachable(_ url: String, isPicture: Bool = false, at now: Date) -> Bool {
        let isOwn = isOwnOrigin(url)
        guard !isOwn || reachability.isReachable else { return false }
        return isOwn && !isPicture || linkedHosts.isReachable(linkedHost(of: url), at: now)
    }

    /// Begins an attempt to read a URL of which nothing is stored. Of several reads at a host that was not reached
    /// lately, one tries it once the pause is over; at the API itself, in the place of a probe.
    ///
    /// - Returns: Whether the caller is to send its request.
    func beginAttempt(_ url: String, isPicture: Bool = false, at now: Date) -> Bool {
        if !isOwnOrigin(url) { return linkedHosts.beginAttempt(linkedHost(of: url), at: now) }
        if !isPicture { return health.beginAttempt() }
        return reachability.isReachable && linkedHosts.beginAttempt(linkedHost(of: url), at: now)
    }

    /// Returns the pause that the host of a URL requested; nil if there is none.
    func pause(_ url: String, isPicture: Bool, _ credential: CredentialHash?, at now: Date) -> Reachability.Pause? {
        let isOwn = isOwnOrigin(url)
        let ofAPI = isOwn ? pause(for: credential, at: now) : nil
        let ofHost = isOwn && !isPicture ? nil : linkedHosts.pause(linkedHost(of: url), at: now)
        return [ofAPI, ofHost].compactMap { $0 }.max { $0.end < $1.end }
    }

    /// Sends a probe in the background if the upstream is unreachable and none was sent just now.
    package func probeIfIdle() { health.probeIfIdle() }

    /// Records the result of a request in the health of its target.
    func record(
        _ result: Result<HTTPResponse, UpstreamError>,
        of request: some OutgoingMessage,
        at target: TargetRules.Target
    ) {
        guard target != .ownOrigin || request.isPicture else {
            return health.record(result, credential: request.credential)
        }
        switch result {
        case .success(let response):
            let retryAfter = RetryAfter.seconds(response.headerFields, at: clock.now())
            linkedHosts.responded(linkedHost(of: request.url), response.status, retryAfter: retryAfter, at: clock.now())
        case .failure(.unreachable(let reason)):
            linkedHosts.unreachable(linkedHost(of: request.url), reason, at: clock.now(), jitter: jitter())
        case .failure: break
        }
    }

    /// Returns the origin of a URL. The API's own origin may have pictures, uploads and downloads as well: there the
    /// folder tells them apart, below the API's own path if it is there.
    func linkedHost(of url: String) -> String {
        let parts = URIParts(url)
        let origin = "\(parts.scheme?.lowercased() ?? "")://\(parts.authority?.lowercased() ?? "")"
        let target = targets.target(of: url)
        guard target.isOwnOrigin else { return origin }
        let depth = target == .ownOrigin ? targets.basePath.split(separator: "/").count : 0
        let folders = parts.path.split(separator: "/").dropLast().prefix(depth + 1)
        return "\(origin)/\(folders.joined(separator: "/"))"
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
