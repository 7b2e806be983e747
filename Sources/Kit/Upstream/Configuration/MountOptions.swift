public import HTTPTypes

/// A request field that a mount forwards because its operator names it.
public struct RequestField: Sendable, Equatable {
    /// Its name.
    public var name: HTTPField.Name
    /// Whether responses are stored by its value, as if their `Vary` named it: no client then gets a response that
    /// another one's field has shaped.
    public var isKey: Bool

    /// Creates a field.
    public init(_ name: HTTPField.Name, isKey: Bool = true) {
        self.name = name
        self.isKey = isKey
    }

    /// Names of fields that the connection to the upstream has of its own.
    private static let ofTheConnection: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "larder-exchange", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Reads a field as the setting has it: a name, or a name followed by `:unkeyed`.
    public init?(setting text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = HTTPField.Name(String(parts[0])), !Self.ofTheConnection.contains(name.canonicalName),
            parts.count == 1 || parts[1] == "unkeyed"
        else { return nil }
        self.init(name, isKey: parts.count == 1)
    }
}

/// How an upstream's own API is mounted below `/v1/upstreams/{name}/`. Settings
/// `upstreams.{name}.{shared,methods,request_fields,last_good,heuristics}`.
public struct MountOptions: Sendable, Equatable {
    /// Whether responses are shared by all clients. If not, `Authorization` and `Cookie` are forwarded, and everything
    /// is stored per credential.
    public var shared: Bool
    /// Methods that are forwarded.
    public var methods: [HTTPRequest.Method]
    /// Request fields that are forwarded besides those of HTTP itself.
    public var requestFields: [RequestField]
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
        requestFields: [RequestField] = [],
        lastGood: Bool = true,
        heuristics: Bool = false,
        maximumStoredBytes: Int = 128 << 20
    ) {
        self.shared = shared
        self.methods = methods
        self.requestFields = requestFields
        self.lastGood = lastGood
        self.heuristics = heuristics
        self.maximumStoredBytes = maximumStoredBytes
    }
}
