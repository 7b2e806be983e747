/// Which names this server answers to. A page of the web that has its own name resolved to this machine (DNS rebinding) sends that name as `Host`, and gets nothing.
public struct HostRules: Sendable, Equatable {
    /// Names and addresses, lower case, without ports.
    public let allowedHosts: Set<String>

    /// The bound address, the names of the loopback interface, and what `http.allowed_hosts` lists.
    public init(boundHost: String, allowed: [String]) {
        allowedHosts = Set(([boundHost, "localhost", "127.0.0.1", "::1"] + allowed).map { Self.name(of: $0) })
    }

    /// Whether a `Host` field names this server; its port does not matter, since ports are mapped.
    public func allows(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return false }
        return allowedHosts.contains(Self.name(of: authority))
    }

    /// The host of `host:port`, `[v6]:port` or a bare IPv6 address, in lower case and without a root dot.
    static func name(of authority: String) -> String {
        var host = authority[...]
        if host.hasPrefix("[") {
            host = host.dropFirst().prefix { $0 != "]" }
        } else if host.filter({ $0 == ":" }).count == 1 {
            host = host.prefix { $0 != ":" }
        }
        if host.hasSuffix(".") { host = host.dropLast() }
        return host.lowercased()
    }
}
