import Certificates

/// The origin at which devices reach the server.
enum PairingAddress {
    /// Returns the first of these that is known and is not for this machine only: where a proxy serves, a name of the
    /// certificate, a host that is allowed, the address that is listened on. Nil if there is none, or no port.
    static func origin(of http: HTTPConfiguration, _ certificate: CertificateNames?, port: Int) -> String? {
        if let origin = http.publicURL?.origin { return origin }
        let bound = everyAddress.contains(http.host) ? [] : [http.host]
        let hosts = (certificate?.all ?? []) + http.allowedHosts + bound
        let reachable = hosts.first { !$0.hasPrefix("*") && !isOfThisMachine($0) }
        guard port > 0, let reachable else { return nil }
        let host = reachable.contains(":") && !reachable.hasPrefix("[") ? "[\(reachable)]" : reachable
        return "\(http.scheme)://\(host):\(port)"
    }

    private static let everyAddress: Set<String> = ["0.0.0.0", "::"]

    private static func isOfThisMachine(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "::1"
    }
}
