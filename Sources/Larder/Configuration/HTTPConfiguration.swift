import Certificates
import Foundation
import HTTPServer
import Screens
import Settings

/// The settings `http.*`.
struct HTTPConfiguration: Sendable {
    var host: String
    var port: Int
    /// Who is served without a paired device.
    private(set) var access: AccessRules.Mode
    /// The key with which the operator is served from elsewhere; empty for none.
    let operatorKey: String
    let allowedHosts: [String]
    let allowedOrigins: [String]
    /// Address at which a proxy serves this server; nil if none does.
    private(set) var publicURL: PublicURL?
    /// The files of the certificate; nil for a server without TLS.
    private(set) var certificate: CertificateFiles?
    private(set) var trustedProxies: TrustedProxies
    let limits: ConnectionLimits
    /// Largest number of connections of one client; 0 is half of all.
    private let perAddress: Int
    /// How long requests under way may take after SIGTERM.
    let stopTimeout: Duration

    init(_ settings: SettingValues) throws(SettingError) {
        host = try settings.text("http.host")
        port = try settings.integer("http.port")
        access = try settings.choice("http.access")
        operatorKey = try settings.text("http.operator_key")
        allowedHosts = try settings.list("http.allowed_hosts")
        allowedOrigins = try settings.list("http.allowed_origins")
        publicURL = try settings.url("http.public_url").map { url throws(SettingError) in try PublicURL(url) }
        certificate = try CertificateFiles(settings)
        trustedProxies = TrustedProxies(try settings.list("http.trusted_proxies").compactMap { AddressRange($0) })
        limits = try ConnectionLimits(settings)
        perAddress = try settings.integer("http.connections_per_address")
        stopTimeout = try settings.milliseconds("http.stop_timeout_ms")
    }

    /// The same for a server on any port of this machine alone, without TLS.
    var onLoopback: HTTPConfiguration {
        var http = self
        (http.host, http.port, http.access) = ("127.0.0.1", 0, .loopback)
        (http.publicURL, http.certificate, http.trustedProxies) = (nil, nil, .none)
        return http
    }

    /// Scheme by which clients reach this server.
    var scheme: String { certificate == nil ? "http" : "https" }

    /// Returns the largest number of connections of one client if this many may be open, which the limit of open files
    /// can make fewer than `http.connections`.
    func connectionsPerAddress(of connections: Int) -> Int { perAddress > 0 ? perAddress : max(1, connections / 2) }
}

/// `http.public_url`: scheme, host and port.
struct PublicURL: Sendable, Equatable {
    let host: String
    /// As browsers write it into `Origin`: without the default port (RFC 6454 §6.2).
    let origin: String

    /// Takes a URL apart.
    /// - Throws: `SettingError` if it has a path: this server's paths begin at the root.
    init(_ url: URL) throws(SettingError) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: true), url.path.isEmpty else {
            throw .unacceptable(
                key: "http.public_url",
                value: url.absoluteString,
                source: "settings",
                accepted: "scheme, host and port, such as https://larder.example"
            )
        }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let port = url.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        self.host = name
        origin = "\(scheme)://\(name.lowercased())\(port)"
    }
}

extension CertificateFiles {
    /// `http.tls_certificate` and `http.tls_key`; nil if both are empty.
    fileprivate init?(_ settings: SettingValues) throws(SettingError) {
        let (certificate, key) = (try settings.text("http.tls_certificate"), try settings.text("http.tls_key"))
        if certificate.isEmpty, key.isEmpty { return nil }
        guard !certificate.isEmpty, !key.isEmpty else {
            throw .unacceptable(
                key: certificate.isEmpty ? "http.tls_certificate" : "http.tls_key",
                value: "",
                source: "settings",
                accepted: "the path of a file, since the other of http.tls_certificate and http.tls_key is set"
            )
        }
        self.init(certificate: URL(filePath: certificate), key: URL(filePath: key))
    }
}

extension ConnectionLimits {
    fileprivate init(_ settings: SettingValues) throws(SettingError) {
        self.init(
            headerBytes: try settings.integer("http.header_bytes"),
            urlBytes: try settings.integer("http.url_bytes"),
            headDeadline: try settings.milliseconds("http.head_timeout_ms"),
            idleTimeout: try settings.milliseconds("http.idle_timeout_ms"),
            bodyDeadline: try settings.milliseconds("http.body_timeout_ms"),
            writeDeadline: try settings.milliseconds("http.write_timeout_ms"),
            connections: try settings.integer("http.connections")
        )
    }
}

/// The address that is listened on does not fit to who gets in (`http.access`).
enum AccessCheck: Error, CustomStringConvertible, Equatable {
    /// Others than this machine reach the address, and nothing says how they are kept out.
    case unprotected(host: String)
    /// Behind a proxy that is not named, its clients could pass as local ones.
    case unnamedProxy
    /// The operator's key can be guessed.
    case weakKey
    /// The operator's key would go over the network in clear text.
    case openKey

    /// Checks settings together.
    ///
    /// - Throws: The settings that contradict each other.
    static func check(_ http: HTTPConfiguration) throws(AccessCheck) {
        let isLoopback = AccessRules.isLoopback(host: http.host.lowercased())
        if !http.operatorKey.isEmpty {
            guard OperatorKey(http.operatorKey) != nil else { throw .weakKey }
            guard isLoopback || http.certificate != nil || http.publicURL != nil else { throw .openKey }
        }
        switch http.access {
        case .open: return
        case .loopback: guard isLoopback else { throw .unprotected(host: http.host) }
        case .pairing:
            guard http.publicURL == nil || http.trustedProxies != .none else { throw .unnamedProxy }
        }
    }

    var description: String {
        switch self {
        case .unprotected(let host):
            """
            http.host \(host) is reached by others than this machine, and nothing keeps them out: set http.access to \
            pairing, and they need a device that is paired by a code, or to open if everyone who reaches the port may \
            come in, such as behind a proxy that authenticates
            """
        case .weakKey:
            "http.operator_key has fewer than \(OperatorKey.shortest) characters: make one with openssl rand -hex 32"
        case .openKey:
            """
            http.operator_key would go over the network in clear text: set http.tls_certificate and http.tls_key \
            (larder certificate makes both), or http.public_url if a proxy does TLS
            """
        case .unnamedProxy:
            """
            http.access is pairing and http.public_url names a proxy: set http.trusted_proxies to its addresses, so \
            that its clients do not pass as local ones
            """
        }
    }
}
