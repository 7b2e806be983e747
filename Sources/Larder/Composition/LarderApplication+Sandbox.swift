import Screens
import ServiceLifecycle
import Upstream

extension LarderApplication {
    /// The routes to the controls of the sandbox; none without one. A fault that is set there is noticed at once.
    static func sandbox(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources) -> [Route] {
        guard let (controls, transport) = controls(port: port, upstreams, resources) else { return [] }
        return SandboxRoutes(controls: controls, transport: transport) {
            for upstream in upstreams { upstream.probe() }
        }.routes
    }

    /// Notices the faults that are set in the sandbox itself; none without one.
    static func sandboxWatch(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources) -> [any Service] {
        guard let (controls, transport) = controls(port: port, upstreams, resources) else { return [] }
        let events = resources.events
        return [
            SandboxWatch(
                controls: controls,
                transport: transport,
                clock: resources.clock,
                isNeeded: { events.listenerCount > 0 },
                changed: { name in
                    for upstream in upstreams where upstream.configuration.name == name { upstream.probe() }
                }
            )
        ]
    }

    /// The URL of the sandbox's controls, and what sends requests to it.
    private static func controls(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources) -> (
        String, any Transport
    )? {
        let timeout = upstreams.first?.configuration.connectTimeout
        guard let port, let transport = timeout.flatMap({ resources.transports[$0] }) else { return nil }
        return ("http://127.0.0.1:\(port)/_sandbox", transport)
    }
}
