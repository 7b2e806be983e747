import Certificates

/// The address at which a browser on this machine finds the pages.
struct PageAddress {
    /// A name of the loopback interface (RFC 6761 §6.3) that is Larder's own: cookies of a host go to all of its ports,
    /// and other servers use `localhost`.
    static let ownHost = "larder.localhost"

    private static let loopback: Set<String> = ["127.0.0.1", "::1", "localhost", "0.0.0.0", "::"]

    /// Returns the address.
    ///
    /// - Parameters:
    ///   - http: What was configured.
    ///   - names: What the certificate is for; nil without one.
    ///   - port: The port that is listened on.
    static func url(of http: HTTPConfiguration, _ names: CertificateNames?, port: Int) -> String {
        if let origin = http.publicURL?.origin { return "\(origin)/" }
        let host = host(of: http, names)
        return "\(http.scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    }

    /// The host; with a certificate one that it is for, if there is any, because a browser refuses all others.
    private static func host(of http: HTTPConfiguration, _ names: CertificateNames?) -> String {
        let isLocal = loopback.contains(http.host)
        let preferred = isLocal ? [ownHost, "localhost", "127.0.0.1", "::1"] : [http.host]
        guard let names else { return preferred[0] }
        return preferred.first(where: names.contains) ?? names.all.first { !$0.hasPrefix("*") } ?? preferred[0]
    }
}
