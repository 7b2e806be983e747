public import HTTPTypes

/// How an upstream's own API is mounted below `/v1/upstreams/{name}/`. Settings
/// `upstreams.{name}.{shared,methods,last_good,heuristics}`.
public struct MountOptions: Sendable, Equatable {
    /// Whether answers are anybody's. If not, `Authorization` and `Cookie` are passed on and everything is kept per
    /// credential.
    public var shared: Bool
    /// Methods that are passed on.
    public var methods: [HTTPRequest.Method]
    /// Whether the last good answer is served, however old, when the upstream fails and the response does not forbid it
    /// (RFC 9111 §4.2.4).
    public var lastGood: Bool
    /// Whether lifetimes are guessed from `Last-Modified` where a response gives none (RFC 9111 §4.2.2).
    public var heuristics: Bool
    /// Largest body that is stored, in bytes; larger ones are only passed on.
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
