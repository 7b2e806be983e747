/// Whether a host is this machine by its name or address. A page elsewhere can make a browser send requests to
/// 127.0.0.1, under a name of its own (DNS rebinding) or with its own `Origin`; neither passes
/// this check.
enum LoopbackHost {
    /// - Parameter authority: `host` or `host:port` (RFC 3986 section 3.2).
    static func matches(authority: String) -> Bool {
        guard let host = host(of: authority) else { return false }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" || isLoopbackIPv4(host)
    }

    /// - Parameter origin: `scheme://host:port`, or `null`, which matches no origin.
    static func matches(origin: String) -> Bool {
        guard let scheme = origin.firstRange(of: "://") else { return false }
        return matches(authority: String(origin[scheme.upperBound...]))
    }

    private static func host(of authority: String) -> String? {
        let colon = authority.lastIndex(of: ":")
        guard let colon, authority.last != "]" else { return authority.lowercased() }
        let port = authority[authority.index(after: colon)...]
        guard port.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return authority[..<colon].lowercased()
    }

    private static func isLoopbackIPv4(_ host: String) -> Bool {
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }
}
