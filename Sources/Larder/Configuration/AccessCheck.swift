import HTTPServer
import Screens

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
    /// - Throws: What does not fit.
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
