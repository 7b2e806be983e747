import HTTPServer
import Screens

/// The address that is listened on does not fit to who gets in (`http.access`).
enum AccessCheck: Error, CustomStringConvertible, Equatable {
    /// Others than this machine reach the address, and nothing says how they are kept out.
    case unprotected(host: String)
    /// Behind a proxy that is not named, its clients could pass as local ones.
    case unnamedProxy

    /// Checks settings together.
    ///
    /// - Throws: What does not fit.
    static func check(_ http: HTTPConfiguration) throws(AccessCheck) {
        switch http.access {
        case .open: return
        case .loopback:
            guard AccessRules.isLoopback(host: http.host.lowercased()) else { throw .unprotected(host: http.host) }
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
        case .unnamedProxy:
            """
            http.access is pairing and http.public_url names a proxy: set http.trusted_proxies to its addresses, so \
            that its clients do not pass as local ones
            """
        }
    }
}
