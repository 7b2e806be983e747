import Foundation
import HTTP
import NIOCore

/// Decides which targets requests of one upstream may have: its own origin, and for links and redirects the listed
/// hosts, or any public host if that is configured.
///
/// `*.example.org` lists every host below `example.org`, for services that number their hosts.
struct TargetRules: Sendable {
    /// The configured URL; nil if no connection can be made to it, and then no request has a target.
    let base: HTTPURL?
    let allowedHosts: Set<String>
    let trustedHosts: Set<String>
    let followsPublicLinks: Bool
    private let allowedSuffixes: [String]
    let basePath: String

    init(_ configuration: UpstreamConfiguration) {
        base = try? HTTPURL(configuration.baseURL.absoluteString)
        basePath = base.map { String($0.requestTarget.prefix { $0 != "?" }) } ?? "/"
        let listed = configuration.allowedHosts.map { $0.lowercased() }
        allowedHosts = Set(listed.filter { !$0.hasPrefix("*.") })
        allowedSuffixes = listed.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst()) }
        trustedHosts = Set(configuration.trustedHosts.map { $0.lowercased() })
        followsPublicLinks = configuration.followsPublicLinks
    }

    /// Whether only public addresses may be connected to there.
    func needsPublicAddress(_ target: Target) -> Bool { target == .listedHost }

    private func isListed(_ host: String) -> Bool {
        allowedHosts.contains(host)
            || allowedSuffixes.contains { host.hasSuffix($0) && host.utf8.count > $0.utf8.count }
    }

    /// How a URL may be reached.
    enum Target: Equatable {
        /// The API itself, which the operator chose: at any address, with credentials.
        case ownOrigin
        /// A link to the API's origin beside its base path: as the API, but its health is another's.
        case besideBase
        /// A listed host, or any host if that is configured: public addresses only, no credentials.
        case listedHost
        /// A host that the operator trusts: any address, no credentials.
        case trustedHost
        /// Anything else.
        case forbidden(String)

        /// Whether credentials may be sent there.
        var isOwnOrigin: Bool { self == .ownOrigin || self == .besideBase }
    }

    func target(of url: String) -> Target {
        let parsed: HTTPURL
        do throws(HTTPURL.Defect) {
            if let base, let known = HTTPURL(url, atOriginOf: base) {
                parsed = known
            } else {
                parsed = try HTTPURL(url)
            }
        } catch {
            return .forbidden(error.description)
        }
        guard !parsed.hasUser else { return .forbidden("a URL with credentials") }
        guard let base else { return .forbidden("a base URL to which no connection can be made") }
        if parsed.hasSameOrigin(as: base) { return isBelowBase(parsed) ? .ownOrigin : .besideBase }
        if trustedHosts.contains(parsed.host) { return .trustedHost }
        guard isListed(parsed.host) else {
            // Public pictures are at the usual ports; other ports belong to other services.
            guard followsPublicLinks, parsed.hasDefaultPort else { return .forbidden("host \(parsed.host)") }
            return .listedHost
        }
        if parsed.scheme == "http", base.scheme == "https" { return .forbidden("\(parsed.host) without encryption") }
        return .listedHost
    }

    /// Whether a URL of the base's origin is below its path.
    private func isBelowBase(_ url: HTTPURL) -> Bool {
        guard basePath != "/" else { return true }
        guard url.requestTarget.utf8.starts(with: basePath.utf8) else { return false }
        let next = url.requestTarget.utf8.dropFirst(basePath.utf8.count).first
        return basePath.hasSuffix("/") || next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
    }

    /// Returns the absolute URL that a `Location` names, seen from the URL whose response has it (RFC 9110 §10.2.2,
    /// RFC 3986 §5.2), without a fragment. Characters that no URI has are percent-encoded.
    /// - Returns: nil if `location` is empty.
    static func resolve(location: String, from url: String) -> String? {
        guard !location.isEmpty else { return nil }
        var target = URIParts(location).resolved(against: URIParts(url))
        target.path = PercentEncoding.encode(target.path, allowed: .uri)
        target.query = target.query.map { PercentEncoding.encode($0, allowed: .uri) }
        return target.text
    }
}

/// Decides to which network addresses links in an upstream's data may point. Only public ones are allowed, so that no
/// data can make Larder send requests into the machine's own network.
enum AddressRules {
    /// Whether an address is globally reachable (IANA special-purpose registries, RFC 6890 and successors).
    static func isPublic(_ address: SocketAddress) -> Bool {
        address.ipAddress.map { isPublic($0) } ?? false
    }

    /// Whether an address in text form is globally reachable.
    static func isPublic(_ ipAddress: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, ipAddress, &bytes) == 1 { return isPublic(v4: Array(bytes.prefix(4))) }
        return inet_pton(AF_INET6, ipAddress, &bytes) == 1 && isPublic(v6: bytes)
    }

    /// Whether an IPv4 address, four bytes in network order, is globally reachable.
    static func isPublic(v4 bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _): return false  // this network, private, loopback
        case (100, 64...127, _): return false  // shared address space, RFC 6598
        case (169, 254, _): return false  // link local, cloud metadata
        case (172, 16...31, _), (192, 168, _): return false  // private
        // Protocol assignments and documentation.
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113): return false
        case (198, 18...19, _): return false  // benchmarking
        case (224..., _, _): return false  // multicast, reserved, broadcast
        default: return true
        }
    }

    /// Whether an IPv6 address, sixteen bytes in network order, is globally reachable.
    static func isPublic(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        if bytes[0..<10].allSatisfy({ $0 == 0 }) && bytes[10] == 0xFF && bytes[11] == 0xFF {
            return isPublic(v4: Array(bytes[12...]))  // IPv4-mapped, RFC 4291 §2.5.5.2
        }
        if bytes[0..<12].elementsEqual([0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return isPublic(v4: Array(bytes[12...]))  // NAT64, RFC 6052; not a network's own, RFC 8215
        }
        if bytes[0] == 0x20 && bytes[1] == 0x02 { return isPublic(v4: Array(bytes[2..<6])) }  // 6to4, RFC 3056
        // Documentation.
        if bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8 { return false }
        // Protocol assignments 2001::/23: Teredo, benchmarking, ORCHID.
        if bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] < 0x02 { return false }
        if bytes[0] == 0x3F && bytes[1] == 0xFF && bytes[2] < 0x10 { return false }  // documentation, RFC 9637
        return bytes[0] & 0xE0 == 0x20  // global unicast 2000::/3; not loopback, unique local, link local, multicast
    }
}
