import Foundation

/// Where requests of one upstream may go: its own origin, and for links and redirects the listed hosts, or any public one where that is configured.
///
/// `*.example.org` lists every host below `example.org`, for services that number their hosts.
struct TargetRules: Sendable {
    let base: URL
    let allowedHosts: Set<String>
    let trustedHosts: Set<String>
    let followsPublicLinks: Bool
    private let allowedSuffixes: [String]

    init(_ configuration: UpstreamConfiguration) {
        base = configuration.baseURL
        let listed = configuration.allowedHosts.map { $0.lowercased() }
        allowedHosts = Set(listed.filter { !$0.hasPrefix("*.") })
        allowedSuffixes = listed.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst()) }
        trustedHosts = Set(configuration.trustedHosts.map { $0.lowercased() })
        followsPublicLinks = configuration.followsPublicLinks
    }

    /// Whether only public addresses may be connected to there.
    func needsPublicAddress(_ target: Target) -> Bool { target == .listedHost }

    private func isListed(_ host: String) -> Bool {
        allowedHosts.contains(host) || allowedSuffixes.contains { host.hasSuffix($0) && host.utf8.count > $0.utf8.count }
    }

    /// How a URL is to be reached.
    enum Target: Equatable {
        /// The configured origin: the operator chose it, any address will do, credentials may go there.
        case ownOrigin
        /// A listed host, or any where that is configured: public addresses only, no credentials.
        case listedHost
        /// A host that the operator vouches for: any address, no credentials.
        case trustedHost
        /// Anything else.
        case forbidden(String)
    }

    func target(of url: String) -> Target {
        guard let parsed = URL(string: url), let scheme = parsed.scheme?.lowercased(), let host = parsed.host?.lowercased(), parsed.user == nil else {
            return .forbidden("not an absolute URL")
        }
        guard scheme == "https" || scheme == "http" else { return .forbidden("scheme \(scheme)") }
        if scheme == base.scheme?.lowercased(), host == base.host?.lowercased(), Self.port(parsed) == Self.port(base) { return .ownOrigin }
        if trustedHosts.contains(host) { return .trustedHost }
        guard isListed(host) else {
            // At other ports than the usual ones are services that nobody publishes pictures with.
            guard followsPublicLinks, parsed.port == nil || parsed.port == (scheme == "https" ? 443 : 80) else { return .forbidden("host \(host)") }
            return .listedHost
        }
        if scheme == "http", base.scheme?.lowercased() == "https" { return .forbidden("\(host) without encryption") }
        return .listedHost
    }

    private static func port(_ url: URL) -> Int {
        url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
    }

    /// The absolute URL that a `Location` means, seen from the URL that answered it (RFC 9110 §10.2.2); nil when it is none.
    static func resolve(location: String, from url: String) -> String? {
        guard let base = URL(string: url), let target = URL(string: location, relativeTo: base)?.absoluteURL else { return nil }
        var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        components?.fragment = nil
        return components?.url?.absoluteString
    }
}
