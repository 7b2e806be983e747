import Foundation

extension ASCIISet {
    /// Unreserved characters: a component with this set means the same anywhere in a URI. RFC 3986 §2.3.
    package static let unreserved = alphanumerics.adding("-._~")
    /// A name or value of a query in which commas, colons and slashes stay legible. RFC 3986 §3.4.
    package static let legibleQuery = unreserved.adding(",:/")
    /// A path that is percent-encoded already. RFC 3986 §3.3.
    package static let encodedPath = unreserved.adding("%/:@!$&'()*+,;=")
    /// Any character of a URI, encoded parts included. RFC 3986 §2.
    package static let uri = unreserved.adding("%:/?#[]@!$&'()*+,;=")
    /// `attr-char`, for extended parameter values. RFC 8187 §3.2.1.
    package static let attributeCharacters = alphanumerics.adding("!#$&+-.^_`|~")
}

/// Writes and reads percent-encoded text. RFC 3986 §2.1.
package enum PercentEncoding {
    /// Percent-encodes the UTF-8 bytes of a text.
    /// - Parameters:
    ///   - text: any text.
    ///   - allowed: the characters that are not encoded.
    package static func encode(_ text: String, allowed: ASCIISet) -> String {
        var text = text
        let encoded = text.withUTF8 { bytes -> String? in
            let others = bytes.count { !allowed.contains($0) }
            guard others > 0 else { return nil }
            return String(unsafeUninitializedCapacity: bytes.count + 2 * others) { encode(bytes, allowed, into: $0) }
        }
        return encoded ?? text
    }

    /// - Returns: How many bytes were written.
    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ allowed: ASCIISet,
        into target: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var end = 0
        for byte in bytes {
            if allowed.contains(byte) {
                target[end] = byte
                end += 1
            } else {
                target[end] = UInt8(ascii: "%")
                target[end + 1] = digit(byte >> 4)
                target[end + 2] = digit(byte & 15)
                end += 3
            }
        }
        return end
    }

    /// Upper case, as RFC 3986 §2.1 recommends.
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x41 - 10 + value
    }

    /// Decodes percent-encoded text.
    /// - Returns: the bytes; nil if a percent sign is not followed by two hexadecimal digits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimalValue),
                let low = rest.popFirst().flatMap(hexadecimalValue)
            else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns a path in which unreserved characters are not percent-encoded, which is equivalent. RFC 3986 §6.2.2.2.
    package static func withoutNeedlessEncoding(_ path: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(hexadecimalValue),
                let low = rest.dropFirst().first.flatMap(hexadecimalValue),
                ASCIISet.unreserved.contains(high << 4 | low)
            {
                bytes.append(high << 4 | low)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the value of a hexadecimal digit in either case; nil for other bytes.
    package static func hexadecimalValue(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}

/// The parts of a URI reference without its fragment. RFC 3986 §3, appendix B.
package struct URIParts: Sendable, Equatable {
    /// The scheme in lower case; nil in a relative reference.
    package var scheme: String?
    /// User, host and port as written; nil without `//`.
    package var authority: String?
    /// The path as written.
    package var path: String
    /// The text after `?`, if there is one.
    package var query: String?

    /// Splits a reference; the fragment is dropped.
    package init(_ text: String) {
        // Bytes are compared, not characters: a combining mark after a delimiter does not change its meaning.
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
    package var text: String {
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
    package func resolved(against base: URIParts) -> URIParts {
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

/// An absolute `http` or `https` URL to which a connection can be made (RFC 9110 §4.2). Its port is one of 1...65535.
///
/// A text from outside (a link, a `Location`, a setting) is checked by this type before it reaches a library. NIO and
/// async-http-client end the process on a port that does not fit into 16 bits, and on the host `[]`. The client
/// connects to the address that Foundation reads, so the text is accepted only if Foundation and ``URIParts`` read the
/// same port.
package struct HTTPURL: Sendable, Hashable {
    /// Why a text is not such a URL.
    package enum Defect: Error, Sendable, Hashable {
        /// It has no scheme or no host.
        case notAbsolute
        /// Its scheme is neither `http` nor `https`.
        case scheme(String)
        /// Its host has characters that no name and no address has.
        case host
        /// Its port is not one of 1...65535.
        case port
    }

    /// The text from which the URL was parsed.
    package let text: String
    /// `http` or `https`.
    package let scheme: String
    /// A name or an address in lower case, without the brackets of an IPv6 address.
    package let host: String
    /// The written port, or the default one of the scheme.
    package let port: UInt16
    /// Whether the port is the default one of the scheme, written or not.
    package var hasDefaultPort: Bool { port == Self.defaultPort(of: scheme) }
    package let hasUser: Bool
    /// Scheme, host and port in the written spelling, such as `http://127.0.0.1:8080`.
    package let origin: String
    /// Path and query byte for byte, as a request has them (RFC 9112 §3.2.1). Characters that no URI has are
    /// percent-encoded.
    package let requestTarget: String

    /// Parses a URL.
    ///
    /// - Throws: ``Defect``.
    package init(_ text: String) throws(Defect) {
        let parts = URIParts(text)
        guard let scheme = parts.scheme else { throw .notAbsolute }
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme) }
        guard let written = parts.authority, let url = URL(string: "\(scheme)://\(written)/"),
            let host = url.host?.lowercased(), !host.isEmpty
        else { throw .notAbsolute }
        let authority = Self.withoutUser(written)
        // A percent-encoded host is ambiguous, because Foundation decodes it and other readers do not.
        guard Self.isHost(host, inBrackets: authority.hasPrefix("[")),
            authority.hasPrefix("[") || !authority.utf8.contains(UInt8(ascii: "%"))
        else { throw .host }
        let standard = Self.defaultPort(of: scheme)
        // `URL.port` is nil without a port and for a number that is too large for `Int`: the written text decides.
        let digits = Self.port(of: authority)
        guard let port = digits.isEmpty ? standard : Self.number(digits), Int(port) == url.port ?? Int(standard)
        else {
            throw .port
        }
        self.text = text
        self.scheme = scheme
        self.host = host
        self.port = port
        hasUser = url.user != nil
        origin = "\(scheme)://\(authority)"
        let target = (parts.path.isEmpty ? "/" : parts.path) + (parts.query.map { "?\($0)" } ?? "")
        requestTarget = PercentEncoding.encode(target, allowed: .uri)
    }

    /// Reads a URL that begins with the text of a known origin, as most do: its parts are known already.
    ///
    /// - Returns: Nil if it does not begin so; ``init(_:)`` may still read it.
    package init?(_ text: String, atOriginOf known: HTTPURL) {
        guard text.utf8.starts(with: known.origin.utf8) else { return nil }
        let target = text.utf8.dropFirst(known.origin.utf8.count).prefix { $0 != UInt8(ascii: "#") }
        guard target.first == UInt8(ascii: "/") else { return nil }
        self.text = text
        scheme = known.scheme
        host = known.host
        port = known.port
        hasUser = false
        origin = known.origin
        requestTarget = PercentEncoding.encode(String(Substring(target)), allowed: .uri)
    }

    /// Returns whether both have scheme, host and port in common (RFC 9110 §4.3.1).
    package func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    private static func defaultPort(of scheme: String) -> UInt16 { scheme == "https" ? 443 : 80 }

    /// Returns host and port without a user (RFC 3986 §3.2).
    private static func withoutUser(_ authority: String) -> Substring {
        authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.utf8.index(after: $0)...] }
            ?? authority[...]
    }

    /// Returns the text after the host's colon; empty if there is none.
    private static func port(of authority: Substring) -> Substring {
        let rest = authority.utf8.lastIndex(of: UInt8(ascii: "]")).map { authority[$0...] } ?? authority
        return rest.utf8.firstIndex(of: UInt8(ascii: ":")).map { rest[rest.utf8.index(after: $0)...] } ?? ""
    }

    private static func number(_ digits: Substring) -> UInt16? {
        guard digits.isDigits else { return nil }
        return UInt16(digits).flatMap { $0 == 0 ? nil : $0 }
    }

    /// An IPv6 address in brackets (RFC 6874: with a zone), else a name of letters, digits, `-`, `.`, `_` and `~`, or
    /// an IPv4 address.
    private static func isHost(_ host: String, inBrackets: Bool) -> Bool {
        guard inBrackets else { return isName(host[...]) }
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, String(parts[0]), &bytes) == 1 && (parts.count == 1 || isName(parts[1]))
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(ASCIISet.unreserved.contains)
    }
}

extension HTTPURL.Defect: CustomStringConvertible {
    /// The defect in words, for problems and log lines.
    package var description: String {
        switch self {
        case .notAbsolute: "not an absolute URL"
        case .scheme(let scheme): "scheme \(scheme)"
        case .host: "a host that is none"
        case .port: "a port outside of 1 to 65535"
        }
    }
}

/// Compares and resolves absolute URIs, as cache keys and as the targets of `Location`: the part of RFC 3986 that this
/// takes, on plain text, so that nothing is re-encoded.
package enum TargetURI {
    /// Returns the form in which absolute URIs of one resource are equal: scheme and host in lower case, no default
    /// port, no fragment, `/` for an empty path. RFC 9110 §4.2.3.
    /// - Returns: nil if the text is not an `http` or `https` URI.
    package static func normalized(_ absolute: String) -> String? {
        isNormal(absolute) ? absolute : URIParts(absolute).normalized?.text
    }

    /// Whether a text is in that form for certain, as most are: its bytes are read once and nothing is built.
    private static func isNormal(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            let start = bytes.starts(with: "http://".utf8) ? 7 : bytes.starts(with: "https://".utf8) ? 8 : nil
            guard let start, let end = bytes[start...].firstIndex(of: UInt8(ascii: "/")) else { return false }
            let authority = bytes[start..<end]
            let port = bytes[(authority.lastIndex(of: UInt8(ascii: ":")) ?? end)..<end]
            return !authority.isEmpty && authority.allSatisfy(authorityInLowerCase.contains)
                && ![":", ":80", ":443"].contains { port.elementsEqual($0.utf8) }
                && !bytes.contains(UInt8(ascii: "#"))
        } ?? false
    }

    private static let authorityInLowerCase = ASCIISet("0123456789abcdefghijklmnopqrstuvwxyz.-_~:[]")

    /// Resolves the value of `Location` or `Content-Location` against the target of the request. RFC 3986 §5.2.
    /// - Returns: the normalized URI; nil if it is not an `http` or `https` URI.
    package static func resolve(_ reference: String, against base: String) -> String? {
        URIParts(reference).resolved(against: URIParts(base)).normalized?.text
    }

    /// Returns whether two URIs have scheme, host and port in common. RFC 9110 §4.3.1.
    package static func haveSameOrigin(_ one: String, _ other: String) -> Bool {
        guard let one = URIParts(one).normalized, let other = URIParts(other).normalized else { return false }
        return one.scheme == other.scheme && one.authority == other.authority
    }
}
