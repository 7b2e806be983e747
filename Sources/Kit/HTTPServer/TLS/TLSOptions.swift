public import NIOSSL

/// What a server that speaks TLS knows beyond one that does not.
public struct TLSOptions: Sendable {
    /// Returns what the handshake of a new connection is made with.
    let context: @Sendable () -> NIOSSLContext
    /// The hosts to which a request in clear text is redirected.
    let hosts: HostRules

    /// Creates the options.
    ///
    /// - Parameters:
    ///   - context: Is called for each connection, on its event loop.
    ///   - hosts: The hosts that are served.
    public init(context: @escaping @Sendable () -> NIOSSLContext, hosts: HostRules) {
        self.context = context
        self.hosts = hosts
    }
}
