import HTTPSemantics

/// The request target of a request line (RFC 9112 section 3.2): which forms are accepted, and what they mean for the
/// origin.
enum RequestTarget: Equatable {
    /// Origin-form, or `*` for OPTIONS: passed on as it is.
    case origin
    /// Absolute-form, rewritten: its authority replaces `Host` (RFC 9112 section 3.2.2).
    case absolute(authority: String, origin: String)
    /// Not acceptable; the sentence says why.
    case invalid(String)

    /// Judges a target.
    /// - Parameters:
    ///   - uri: the target as it was sent
    ///   - isOptions: whether the method is OPTIONS, the only one that may ask for `*`
    ///   - scheme: what an absolute target begins with
    init(uri: String, isOptions: Bool, scheme: String = "http://") {
        if let flaw = Self.flaw(in: uri) {
            self = .invalid(flaw)
        } else if uri.utf8.first == UInt8(ascii: "/") || (isOptions && uri == "*") {
            self = .origin
        } else {
            self = Self.absolute(uri, scheme) ?? .invalid("The request target has to begin with a slash.")
        }
    }

    /// Describes an unacceptable character of a target, if any. Bytes beyond ASCII must be percent-encoded (RFC
    /// 3986 section 2).
    private static func flaw(in uri: String) -> String? {
        var digitsDue = 0
        var escape: UInt8 = 0
        for byte in uri.utf8 {
            if digitsDue > 0 {
                guard let digit = PercentEncoding.hexadecimalValue(of: byte) else {
                    return "The request target has an invalid percent-encoding."
                }
                escape = escape << 4 | digit
                digitsDue -= 1
                if digitsDue == 0, escape == 0 { return "The request target contains a NUL." }
                continue
            }
            switch byte {
            case UInt8(ascii: "%"):
                digitsDue = 2
                escape = 0
            case UInt8(ascii: "#"):
                return "The request target contains a fragment."
            case ...0x20, 0x7f...:
                return "The request target contains characters that have to be percent-encoded."
            default:
                break
            }
        }
        return digitsDue == 0 ? nil : "The request target has an invalid percent-encoding."
    }

    private static func absolute(_ uri: String, _ scheme: String) -> RequestTarget? {
        guard uri.prefix(scheme.count).lowercased() == scheme else { return nil }
        let rest = uri.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard HostField.isValid(authority) else { return nil }
        let path = rest[authority.endIndex...]
        return .absolute(authority: String(authority), origin: path.first == "/" ? String(path) : "/" + path)
    }
}

/// The value of a `Host` field (RFC 9110 section 7.2): a name or address with an optional port, and nothing else.
enum HostField {
    /// Whether the value is a host with an optional port (RFC 3986 §3.2.2, §3.2.3). No user information, no path, no
    /// list, no IPv6 address without brackets: what two readers might read in two ways is refused.
    static func isValid(_ value: some StringProtocol) -> Bool {
        let value = Substring(value)
        if value.utf8.first == UInt8(ascii: "[") {
            guard let end = value.firstIndex(of: "]") else { return false }
            let address = value[..<end].dropFirst()
            return address.contains(":") && address.utf8.allSatisfy(isOfIPv6) && isPort(value[end...].dropFirst())
        }
        let host = value.prefix { $0 != ":" }
        return !host.isEmpty && host.utf8.allSatisfy { ASCIISet.unreserved.contains($0) || $0 == UInt8(ascii: "%") }
            && isPort(value[host.endIndex...])
    }

    private static func isOfIPv6(_ byte: UInt8) -> Bool {
        PercentEncoding.hexadecimalValue(of: byte) != nil || ":.".utf8.contains(byte)
    }

    /// Whether a text is empty, or a colon and at most a port.
    private static func isPort(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        let digits = text.dropFirst()
        return text.first == ":" && digits.utf8.count <= 5 && digits.utf8.allSatisfy(\.isASCIIDigit)
            && (Int(digits) ?? 0) <= 65_535
    }
}
