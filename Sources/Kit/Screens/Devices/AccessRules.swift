import Crypto
import Foundation
import HTTP
import HTTPTypes
package import Server

/// Who is served without a paired device (`http.access`). See docs/decisions/0141.
package struct AccessRules: Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        /// Every client; the port is one of the loopback interface.
        case loopback
        /// Local requests, and paired devices.
        case pairing
        /// Every client.
        case open
    }

    package let mode: Mode
    let operatorKey: OperatorKey?
    private let proxies: TrustedProxies
    private let origins: OriginRules

    /// - Parameters:
    ///   - operatorKey: The key of the operator; nil for none.
    ///   - proxies: The proxies whose requests are never local.
    ///   - origins: The origins whose preflights are responded to.
    package init(
        _ mode: Mode,
        operatorKey: OperatorKey? = nil,
        proxies: TrustedProxies = .none,
        origins: OriginRules = OriginRules(allowed: [])
    ) {
        self.mode = mode
        self.operatorKey = operatorKey
        self.proxies = proxies
        self.origins = origins
    }

    /// Whether a request is one that a program of this machine has sent directly: from loopback, to a name of the
    /// loopback interface, and passed on by no proxy. Header fields can only take this away.
    ///
    /// - Parameter peer: The address of the connection; nil if it has none.
    func isLocal(from peer: IPAddress?, authority: String?, _ fields: HTTPFields) -> Bool {
        guard let peer, peer.isLoopback, !proxies.contains(peer) else { return false }
        guard let host = authority.flatMap(HostRules.name), Self.isLoopback(host: host) else { return false }
        return !fields.contains { Self.isOfProxy($0.name.canonicalName) }
    }

    /// Whether a host is a name or an address of the loopback interface.
    package static func isLoopback(host: String) -> Bool {
        host == "localhost" || host == HostRules.browserHost || IPAddress(host)?.isLoopback == true
    }

    private static func isOfProxy(_ name: String) -> Bool {
        name.hasPrefix("x-forwarded") || proxyFields.contains(name)
    }

    private static let proxyFields: Set<String> = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "cf-connecting-ip",
        "fastly-client-ip", "x-original-host", "x-proxyuser-ip",
    ]

    /// Whether a request is responded to before its client is paired: the page that asks for a code, the code itself,
    /// probes of health, and preflights, which carry no credentials.
    func isOpen(_ request: HTTPRequest, path: String) -> Bool {
        switch request.method {
        case .get, .head: Self.openPages.contains(path) || Self.isFileOfPairing(path)
        case .post: path == DeviceRoutes.pairing
        case .options:
            request.headerFields.contains(.accessControlRequestMethod)
                && request.headerFields[.origin].map(origins.lists) == true
        default: false
        }
    }

    private static let openPages: Set<String> = ["/pair", "/health/live", "/health/ready"]

    /// Whether a path is `/web/DIGEST/pair.js` or `pair.css`. It is compared literally: nothing is decoded.
    private static func isFileOfPairing(_ path: String) -> Bool {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return segments.count == 4 && segments[0].isEmpty && segments[1] == "web"
            && (segments[3] == "pair.js" || segments[3] == "pair.css")
    }
}

/// `http.operator_key`: who has it operates the server from elsewhere, as local requests do.
package struct OperatorKey: Sendable, Equatable {
    /// The fewest characters.
    package static let shortest = 32

    private let hash: Data

    /// Takes a key; nil if it is too short to withstand guesses.
    package init?(_ text: String) {
        guard text.utf8.count >= Self.shortest else { return nil }
        hash = Self.hash(text)
    }

    /// Whether a request has the key, in `Larder-Operator`.
    func opens(_ fields: HTTPFields) -> Bool {
        let values = fields[values: .larderOperator]
        guard values.count == 1, let value = values.first else { return false }
        // Hashes are compared: the duration of a comparison tells nothing about the key.
        return Self.hash(value) == hash
    }

    private static func hash(_ text: String) -> Data {
        Data(SHA256.hash(data: Data("larder operator ".utf8) + text.utf8))
    }
}

extension HTTPField.Name {
    /// `Larder-Operator`: the key of the operator.
    static let larderOperator = HTTPField.Name(literal: "Larder-Operator")
}
