package import Freshness

extension UpstreamClient {
    /// Whether the upstream can be reached, as far as is known.
    package var reachability: Reachability { health.reachability }

    /// Counts the changes of ``reachability`` that responses from the store depend on.
    package var reachabilityVersion: VersionCounter { health.version }

    /// Whether a URL is at the upstream's own origin. Other hosts say nothing of its health.
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
