import NIOHTTP1

/// How the bytes of a connection arrive.
enum ConnectionSecurity {
    /// As they are, on a port without TLS.
    case clearText
    /// Through TLS.
    case tls
    /// As they are, on a port for TLS: every request is refused, or redirected if its host is served.
    case clearTextOnTLS(HostRules)

    /// What the URL of a request begins with.
    var scheme: String {
        if case .tls = self { "https://" } else { "http://" }
    }

    /// Whether no request is served.
    var isRefused: Bool {
        if case .clearTextOnTLS = self { true } else { false }
    }

    /// Returns the refusal of a request that should have used TLS; nil if it is acceptable.
    func refusal(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        guard case .clearTextOnTLS(let hosts) = self else { return nil }
        let names = head.headers["Host"]
        guard head.method == .GET || head.method == .HEAD, names.count == 1, HostField.isValid(names[0]),
            hosts.allows(names[0]), head.uri.utf8.first == UInt8(ascii: "/"),
            RequestTarget(uri: head.uri, isOptions: false) == .origin
        else { return .clearText }
        return .redirect(to: "https://\(names[0])\(head.uri)")
    }
}
