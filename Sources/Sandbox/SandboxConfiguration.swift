/// Settings of the sandbox. The host is always 127.0.0.1.
package struct SandboxConfiguration: Sendable {
    /// 0 takes any free port; see ``Sandbox/port``.
    package var port: Int
    /// What is drawn at random is drawn from this: the same seed gives the same pictures.
    package var seed: UInt64
    /// Whether there are simulated upstreams, or only the controls of the server that is tested.
    package var simulatesUpstreams: Bool

    /// - Parameters:
    ///   - port: 0…65535; 0 takes any free port.
    ///   - seed: any number.
    ///   - simulatesUpstreams: false for the controls of the server that is tested alone.
    package init(port: Int = 0, seed: UInt64 = 1, simulatesUpstreams: Bool = true) {
        self.port = port
        self.seed = seed
        self.simulatesUpstreams = simulatesUpstreams
    }
}
