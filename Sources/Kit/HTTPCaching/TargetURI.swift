/// URIs as cache keys and as the targets of `Location`: as much of RFC 3986 as that takes, on plain text, so that
/// nothing is re-encoded.
public enum TargetURI {
    /// The form in which absolute URIs of one resource are equal: scheme and host in lower case, no default port, no
    /// fragment, `/` for an empty path. Nil when the text is no `http` or `https` URI. RFC 9110 §4.2.3.
    public static func normalized(_ absolute: String) -> String? {
        URIParts(absolute).normalized?.text
    }

    /// Resolves what `Location` or `Content-Location` say against the target of the request, normalised. RFC 3986 §5.2.
    public static func resolve(_ reference: String, against base: String) -> String? {
        URIParts(reference).resolved(against: URIParts(base)).normalized?.text
    }

    /// Whether two URIs have scheme, host and port in common. RFC 9110 §4.3.1.
    public static func haveSameOrigin(_ one: String, _ other: String) -> Bool {
        guard let one = URIParts(one).normalized, let other = URIParts(other).normalized else { return false }
        return one.scheme == other.scheme && one.authority == other.authority
    }
}

/// The five parts of a URI reference. RFC 3986 §3, appendix B.
struct URIParts {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?

    /// Takes a reference apart; the fragment is dropped.
    init(_ text: String) {
        var rest = Substring(text)
        if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon].lowercased()
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    var text: String {
        (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
    }

    var normalized: URIParts? {
        guard let scheme, scheme == "http" || scheme == "https", let authority, !authority.isEmpty else { return nil }
        var parts = self
        var host = authority.lowercased()
        let standard = scheme == "http" ? ":80" : ":443"
        if host.hasSuffix(standard) {
            host.removeLast(standard.count)
        } else if host.hasSuffix(":") {
            host.removeLast()
        }
        parts.authority = host
        if path.isEmpty { parts.path = "/" }
        return parts
    }

    /// RFC 3986 §5.2.2.
    func resolved(against base: URIParts) -> URIParts {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                    return target
                }
                if !path.hasPrefix("/") { target.path = base.directory + path }
            }
        }
        target.path = Self.withoutDotSegments(target.path)
        return target
    }

    /// The path up to its last slash. RFC 3986 §5.2.3.
    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "/" }
        return String(path[...slash])
    }

    /// RFC 3986 §5.2.4, for absolute paths.
    private static func withoutDotSegments(_ path: String) -> String {
        guard path.hasPrefix("/") else { return path }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "-" || $0 == ".") }
    }
}
