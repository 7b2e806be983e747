/// The parts of a URI reference without its fragment. RFC 3986 §3, appendix B.
public struct URIParts: Sendable, Equatable {
    /// The scheme in lower case; nil in a relative reference.
    public var scheme: String?
    /// User, host and port as written; nil without `//`.
    public var authority: String?
    /// The path as written.
    public var path: String
    /// The text after `?`, if there is one.
    public var query: String?

    /// Splits a reference; the fragment is dropped.
    public init(_ text: String) {
        // Bytes are compared, not characters: a combining mark behind a delimiter does not change what it delimits.
        var rest = Substring(text)
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<hash] }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = String(rest[rest.utf8.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon].lowercased()
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = Substring(rest.utf8.dropFirst(2))
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    /// The reference as text. RFC 3986 §5.3.
    public var text: String {
        (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
    }

    /// The form in which ``TargetURI/normalized(_:)`` compares absolute URIs; nil for other references.
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

    /// Resolves the reference against an absolute URI. RFC 3986 §5.2.2.
    public func resolved(against base: URIParts) -> URIParts {
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

    /// The path up to its last slash, which is included. RFC 3986 §5.2.3.
    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "/" }
        return String(path[...slash])
    }

    /// Removes `.` and `..` from absolute paths. RFC 3986 §5.2.4.
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
