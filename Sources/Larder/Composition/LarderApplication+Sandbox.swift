import Screens
import ServiceLifecycle
import Upstream

extension LarderApplication {
    /// The routes to the controls on the sandbox's port; none without one. A fault that is set there is noticed at
    /// once.
    ///
    /// - Parameter harness: Sends what is for the server itself: such a request may replace the server, with all that
    ///   its upstreams are reached by.
    static func controls(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources, _ harness: Harness?)
        -> [Route]
    {
        guard let (address, transport) = sandbox(port: port, upstreams, resources) else { return [] }
        let ofSandbox = SandboxRoutes(.sandbox, at: address) {
            try await transport.exchange($0, within: $1)
        } changed: {
            for upstream in upstreams { upstream.probe() }
        }
        let ofHarness = SandboxRoutes(.harness, at: address) {
            try await (harness?.relay() ?? transport).exchange($0, within: $1)
        }
        return ofSandbox.routes + ofHarness.routes
    }

    /// Notices the faults that are set in the sandbox itself; none without one. While the clock of a test stands still,
    /// nothing happens by itself.
    static func sandboxWatch(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources, _ harness: Harness?)
        -> [any Service]
    {
        guard let (address, transport) = sandbox(port: port, upstreams, resources) else { return [] }
        let events = resources.events
        return [
            SandboxWatch(
                controls: "\(address)/_sandbox",
                transport: transport,
                clock: resources.clock,
                isNeeded: { events.listenerCount > 0 && harness?.isFrozen != true },
                changed: { name in
                    for upstream in upstreams where upstream.configuration.name == name { upstream.probe() }
                }
            )
        ]
    }

    /// Scheme, host and port of the sandbox, and what sends requests to it.
    private static func sandbox(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources) -> (
        String, any Transport
    )? {
        let timeout = upstreams.first?.configuration.connectTimeout
        guard let port, let transport = timeout.flatMap({ resources.transports[$0] }) else { return nil }
        return ("http://127.0.0.1:\(port)", transport)
    }
}
