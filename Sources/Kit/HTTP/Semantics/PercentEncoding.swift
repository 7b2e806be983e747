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
        // Bytes are compared, not characters: a combining mark behind a delimiter does not change its meaning.
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
