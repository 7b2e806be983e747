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
    ///   - port: The port that is listened on.
    static func url(of http: HTTPConfiguration, port: Int) -> String {
        if let origin = http.publicURL?.origin { return "\(origin)/" }
        let host = http.host.contains(":") ? "[\(http.host)]" : http.host
        return "\(http.scheme)://\(loopback.contains(http.host) ? ownHost : host):\(port)/"
    }
}
