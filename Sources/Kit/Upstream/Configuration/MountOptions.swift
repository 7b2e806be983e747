public import HTTPTypes

/// How an upstream's own API is mounted below `/v1/upstreams/{name}/`. Settings
/// `upstreams.{name}.{shared,methods,last_good,heuristics}`.
public struct MountOptions: Sendable, Equatable {
    /// Whether responses are shared by all clients. If not, `Authorization` and `Cookie` are forwarded, and everything
    /// is stored per credential.
    public var shared: Bool
    /// Methods that are forwarded.
    public var methods: [HTTPRequest.Method]
    /// Whether the last good response is served, whatever its age, if the upstream fails and the response does not
    /// forbid it (RFC 9111 §4.2.4).
    public var lastGood: Bool
    /// Whether lifetimes are derived from `Last-Modified` if a response gives none (RFC 9111 §4.2.2).
    public var heuristics: Bool
    /// Largest body that is stored, in bytes; larger ones are only forwarded.
    public var maximumStoredBytes: Int

    /// Creates options; by default a shared, read-only mount.
    public init(
        shared: Bool = true,
        methods: [HTTPRequest.Method] = [.get, .head, .options],
        lastGood: Bool = true,
        heuristics: Bool = false,
        maximumStoredBytes: Int = 128 << 20
    ) {
        self.shared = shared
        self.methods = methods
        self.lastGood = lastGood
        self.heuristics = heuristics
        self.maximumStoredBytes = maximumStoredBytes
    }
}
