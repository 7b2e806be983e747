import Sandbox
import Upstream

/// Sends requests, those to a simulated upstream that refuses connections to a port that does.
///
/// All requests to upstreams pass here, also those of mounts to an upstream that a test has made: the URL says which
/// one is meant.
struct RefusableTransport: Transport {
    let real: any Transport
    let sandbox: Sandbox
    /// The sandbox's, of which upstreams are the first segments below.
    private let base: String

    /// - Parameter port: The sandbox's.
    init(real: any Transport, sandbox: Sandbox, port: Int) {
        self.real = real
        self.sandbox = sandbox
        base = "http://127.0.0.1:\(port)/"
    }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        var request = request
        request.url = reached(request.url)
        return try await real.exchange(request, within: limits)
    }

    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        var request = request
        request.url = reached(request.url)
        return try await real.stream(request, within: limits)
    }

    /// Returns the URL at which a resource is as things are now.
    private func reached(_ url: String) -> String {
        guard url.hasPrefix(base) else { return url }
        let rest = url.dropFirst(base.count)
        guard let port = sandbox.refusal(of: String(rest.prefix { $0 != "/" && $0 != "?" })) else { return url }
        return "http://127.0.0.1:\(port)/\(rest)"
    }
}
