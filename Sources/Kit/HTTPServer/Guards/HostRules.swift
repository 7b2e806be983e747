import HTTPSemantics

/// Which host names this server serves. A web page whose own name resolves to this machine (DNS rebinding) sends that
/// name as `Host`, and is refused.
public struct HostRules: Sendable {
    /// Names and addresses, lower case, without ports.
    public let allowedHosts: Set<String>
    /// Whether the certificate that is served now is for a host.
    private let isCertified: @Sendable (String) -> Bool

    /// A name of the loopback interface for browsers: cookies for it are sent to no other server of this machine,
    /// unless it has the same name. No name server has names below `localhost` (RFC 6761 §6.3).
    public static let browserHost = "larder.localhost"

    /// Allows the bound address, the names of the loopback interface, the hosts that `http.allowed_hosts` lists, and
    /// those of the server's certificate.
    public init(
        boundHost: String,
        allowed: [String],
        isCertified: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        self.isCertified = isCertified
        let own = [boundHost, "localhost", "127.0.0.1", "::1", Self.browserHost]
        allowedHosts = Set((own + allowed).compactMap { Self.name(of: $0) })
    }

    /// Whether a `Host` field names this server; its port does not matter, since ports are mapped.
    public func allows(_ authority: String?) -> Bool {
        authority.flatMap { Self.name(of: $0) }.map { allowedHosts.contains($0) || isCertified($0) } ?? false
    }

    /// Returns the host of `host:port`, `[v6]:port` or a bare IPv6 address, in lower case and without a root dot; nil
    /// if it is none of these.
    public static func name(of authority: String) -> String? {
        var host = authority.utf8[...]
        var port = Substring().utf8
        if host.first == UInt8(ascii: "[") {
            guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            port = host[end...].dropFirst()
            host = host[..<end].dropFirst()
        } else if let colon = host.firstIndex(of: UInt8(ascii: ":")), host.lastIndex(of: UInt8(ascii: ":")) == colon {
            port = host[colon...]
            host = host[..<colon]
        }
        guard port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(\.isASCIIDigit)
        else { return nil }
        if host.last == UInt8(ascii: ".") { host = host.dropLast() }
        return host.isEmpty ? nil : Substring(host).lowercased()
    }
}
