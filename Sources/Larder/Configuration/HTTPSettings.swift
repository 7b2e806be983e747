import Foundation
import Screens
import Server

/// The settings `http.*`.
enum HTTPSettings {
    private static let limits = ConnectionLimits.standard

    static let host = Setting("http.host", .text, default: "127.0.0.1", "address to listen on")
    static let access = Setting(
        "http.access",
        .choice,
        default: AccessRules.Mode.loopback,
        "who gets in: this machine only, also paired devices, or everyone who reaches the port",
        note: "`http.host` beyond loopback needs one of the last two ([operations](operations.md#network-access))"
    )
    static let operatorKey = Setting(
        "http.operator_key",
        .text,
        default: "",
        "key of at least 32 characters with which Larder-Operator operates the server; best set in the environment",
        note: "without one, only the machine itself does ([operations](operations.md#network-access))"
    )
    static let port = Setting("http.port", .integer(0...65535), default: 8080, "port to listen on; 0 is any free one")
    static let allowedHosts = Setting(
        "http.allowed_hosts",
        .hosts,
        default: [],
        "host names served in addition to the bound address and localhost"
    )
    static let allowedOrigins = Setting(
        "http.allowed_origins",
        .origins,
        default: [],
        "web origins that may read and write from a browser; * is every origin"
    )
    static let publicURL = Setting(
        "http.public_url",
        .url,
        default: nil,
        "URL at which a proxy, such as one for TLS, serves this server; its host and its origin are allowed",
        note: "scheme, host and port only: pages of `https://larder.example` may then write"
    )
    static let certificate = Setting(
        "http.tls_certificate",
        .text,
        default: "",
        "file with the certificate of this server and those behind it, in PEM; with it, Larder speaks HTTPS only",
        note: "read again at SIGHUP; [larder certificate](operations.md#https-for-phones) makes one"
    )
    static let key = Setting(
        "http.tls_key",
        .text,
        default: "",
        "file with the key of the certificate, in PEM and without a passphrase"
    )
    static let trustedProxies = Setting(
        "http.trusted_proxies",
        .addressRanges,
        default: [],
        "proxies that name the addresses of clients in X-Forwarded-For or Forwarded",
        note: "see [decision 56](decisions/0056-addresses-of-clients.md)"
    )
    static let connections = Setting(
        "http.connections",
        .integer(1...100_000),
        default: limits.connections,
        "largest number of open connections; more wait to be accepted",
        note: "fewer if the limit of open files does not leave 128 for everything else"
    )
    static let connectionsPerAddress = Setting(
        "http.connections_per_address",
        .integer(0...100_000),
        default: 0,
        "largest number of open connections of one client address; more are closed; 0 is half of http.connections",
        note: "an IPv6 client counts by its /64 network; trusted proxies may have any number"
    )
    static let headerBytes = Setting(
        "http.header_bytes",
        .integer(1024...1_048_576),
        default: limits.headerBytes,
        "largest request head"
    )
    static let urlBytes = Setting(
        "http.url_bytes",
        .integer(256...65_536),
        default: limits.urlBytes,
        "longest request URL"
    )
    static let headTimeout = Setting(
        "http.head_timeout_ms",
        .milliseconds(10...3_600_000),
        default: limits.headDeadline,
        "longest time for a request head to arrive"
    )
    static let idleTimeout = Setting(
        "http.idle_timeout_ms",
        .milliseconds(10...3_600_000),
        default: limits.idleTimeout,
        "how long a connection without a request stays open"
    )
    static let bodyTimeout = Setting(
        "http.body_timeout_ms",
        .milliseconds(10...3_600_000),
        default: limits.bodyDeadline,
        "longest time for a request body to arrive; a second more with each 16 KiB of it"
    )
    static let writeTimeout = Setting(
        "http.write_timeout_ms",
        .milliseconds(10...3_600_000),
        default: limits.writeDeadline,
        "how long a client may accept no bytes of a response"
    )
    static let stopTimeout = Setting(
        "http.stop_timeout_ms",
        .milliseconds(10...600_000),
        default: .seconds(10),
        "how long requests in progress may continue after SIGTERM"
    )

    static let all: [any SettingDeclaration] = [
        host, access, operatorKey, port, allowedHosts, allowedOrigins, publicURL, certificate, key, trustedProxies,
        connections, connectionsPerAddress, headerBytes, urlBytes, headTimeout, idleTimeout, bodyTimeout,
        writeTimeout, stopTimeout,
    ]
}

extension LarderConfiguration {
    /// Scheme by which clients reach this server.
    var scheme: String { certificate == nil ? "http" : "https" }

    var trustedProxies: TrustedProxies { TrustedProxies(settings[HTTPSettings.trustedProxies]) }

    /// Returns the largest number of connections of one client if this many may be open. The limit of open files can
    /// make that fewer than `http.connections`.
    func connectionsPerAddress(of connections: Int) -> Int {
        let set = settings[HTTPSettings.connectionsPerAddress]
        return set > 0 ? set : max(1, connections / 2)
    }

    /// Makes the server listen on any port of this machine alone, without TLS.
    mutating func listenOnLoopback() {
        (settings[HTTPSettings.host], settings[HTTPSettings.port]) = ("127.0.0.1", 0)
        settings[HTTPSettings.access] = .loopback
        settings[HTTPSettings.trustedProxies] = []
        (publicURL, certificate) = (nil, nil)
    }
}

/// `http.public_url`: scheme, host and port.
struct PublicURL: Sendable, Equatable {
    let host: String
    /// The origin as browsers write it: without the default port (RFC 6454 §6.2).
    let origin: String

    /// - Throws: `SettingError` if the URL has a path, because this server's paths begin at the root.
    init(_ url: URL) throws(SettingError) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: true), url.path.isEmpty else {
            throw .unacceptable(
                key: HTTPSettings.publicURL.key,
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
    init?(_ settings: SettingValues) throws(SettingError) {
        let (certificate, key) = (settings[HTTPSettings.certificate], settings[HTTPSettings.key])
        if certificate.isEmpty, key.isEmpty { return nil }
        guard !certificate.isEmpty, !key.isEmpty else {
            throw .unacceptable(
                key: (certificate.isEmpty ? HTTPSettings.certificate : HTTPSettings.key).key,
                value: "",
                source: "settings",
                accepted: "the path of a file, since the other of http.tls_certificate and http.tls_key is set"
            )
        }
        self.init(certificate: URL(filePath: certificate), key: URL(filePath: key))
    }
}

extension ConnectionLimits {
    init(_ settings: SettingValues) {
        self = .standard
        headerBytes = settings[HTTPSettings.headerBytes]
        urlBytes = settings[HTTPSettings.urlBytes]
        headDeadline = settings[HTTPSettings.headTimeout]
        idleTimeout = settings[HTTPSettings.idleTimeout]
        bodyDeadline = settings[HTTPSettings.bodyTimeout]
        writeDeadline = settings[HTTPSettings.writeTimeout]
        connections = settings[HTTPSettings.connections]
    }
}

/// The address that is listened at does not fit the permitted clients (`http.access`).
enum AccessCheck: Error, CustomStringConvertible, Equatable {
    /// The address can be reached from other machines, and no setting restricts their access.
    case unprotected(host: String)
    /// The clients of a proxy that is not configured would count as local ones.
    case unnamedProxy
    /// The operator's key can be guessed.
    case weakKey
    /// The operator's key would be sent over the network in clear text.
    case openKey

    /// Checks the settings in combination.
    ///
    /// - Throws: The settings that contradict each other.
    static func check(_ configuration: LarderConfiguration) throws(AccessCheck) {
        let settings = configuration.settings
        let (host, key) = (settings[HTTPSettings.host], settings[HTTPSettings.operatorKey])
        let isLoopback = AccessRules.isLoopback(host: host.lowercased())
        if !key.isEmpty {
            guard OperatorKey(key) != nil else { throw .weakKey }
            guard isLoopback || configuration.certificate != nil || configuration.publicURL != nil else {
                throw .openKey
            }
        }
        switch settings[HTTPSettings.access] {
        case .open: return
        case .loopback: guard isLoopback else { throw .unprotected(host: host) }
        case .pairing:
            guard configuration.publicURL == nil || configuration.trustedProxies != .none else { throw .unnamedProxy }
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
