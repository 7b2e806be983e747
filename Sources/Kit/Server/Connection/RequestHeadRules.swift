import HTTP
import HTTPTypes
import NIOHTTP1

/// An accepted request head, with its consequences for the connection.
struct AcceptedHead: Equatable {
    /// The head to pass on: target in origin-form, `Connection` normalised to `close` where the connection ends with
    /// this request.
    var head: HTTPRequestHead
    /// Whether ``head`` differs from the received one.
    var isRewritten: Bool
    /// Whether the client lets the connection live on (RFC 9112 section 9.3).
    var keepsAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends its body (RFC 9110 section 10.1.1).
    var expectsContinue: Bool
}

/// Decides which request heads are accepted. A head that can be read in two ways is refused, since another program may
/// read it the other way.
struct RequestHeadRules {
    private let limits: ConnectionLimits
    private let security: ConnectionSecurity

    /// Rules with these limits of sizes and counts.
    init(limits: ConnectionLimits, security: ConnectionSecurity = .clearText) {
        self.limits = limits
        self.security = security
    }

    /// Returns the head as it may be passed on, or the refusal.
    func judge(_ head: HTTPRequestHead) -> Result<AcceptedHead, ConnectionRefusal> {
        if let tooLarge = sizeRefusal(head) { return .failure(tooLarge) }
        guard head.version == .http1_1 || head.version == .http1_0 else {
            return .failure(.malformed("Only HTTP/1.1 and HTTP/1.0 are spoken here."))
        }
        var fields = FramingFields()
        for (name, value) in head.headers {
            if let refusal = fields.note(name: name, value: value) { return .failure(refusal) }
        }
        if let refusal = fields.contradiction(version: head.version) { return .failure(refusal) }
        if let refusal = security.refusal(head) { return .failure(refusal) }
        return accept(head, fields)
    }

    /// Returns a head whose fields are acceptable as it may be passed on, unless its target is not.
    private func accept(_ head: HTTPRequestHead, _ fields: FramingFields) -> Result<AcceptedHead, ConnectionRefusal> {
        var accepted = head
        var isRewritten = false
        switch RequestTarget(uri: head.uri, isOptions: head.method == .OPTIONS, scheme: security.scheme) {
        case .origin:
            break
        case .absolute(let authority, let origin):
            accepted.uri = origin
            accepted.headers.replaceOrAdd(name: "Host", value: authority)
            isRewritten = true
        case .invalid(let detail):
            return .failure(.malformed(detail))
        }
        // The decoder reads nothing after a CONNECT, so the connection ends with it, whatever the response is.
        let keepsAlive = fields.keepsAlive(version: head.version) && head.method != .CONNECT
        if !keepsAlive {
            // Fields that `Connection` names concern this connection only (RFC 9110 section 7.6.1). Their names are
            // lost here, so they are as well.
            for name in HopByHop.nominated(inLines: head.headers[canonicalForm: "Connection"].map(String.init)) {
                accepted.headers.remove(name: name.rawName)
            }
            accepted.headers.replaceOrAdd(name: "Connection", value: "close")
            isRewritten = true
        }
        // A 1.0 client cannot know of interim responses: its Expect is ignored (RFC 9110 section 10.1.1).
        let expectsContinue = fields.expectsContinue && fields.hasBody && head.version == .http1_1
        return .success(
            AcceptedHead(
                head: accepted,
                isRewritten: isRewritten,
                keepsAlive: keepsAlive,
                expectsContinue: expectsContinue
            )
        )
    }

    private func sizeRefusal(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        guard head.uri.utf8.count <= limits.urlBytes else {
            return .targetTooLong("The request target is longer than \(limits.urlBytes) bytes.")
        }
        guard head.headers.count <= limits.headerCount else {
            return .headersTooLarge("The request has more than \(limits.headerCount) header fields.")
        }
        // Request line: method, target, two spaces, version and line end. Field line: name, colon, space, value and
        // line end.
        var bytes = head.method.rawValue.utf8.count + head.uri.utf8.count + 12
        for (name, value) in head.headers { bytes += name.utf8.count + value.utf8.count + 4 }
        guard bytes <= limits.headerBytes else {
            return .headersTooLarge("The request head is larger than \(limits.headerBytes) bytes.")
        }
        return nil
    }
}

/// A refusal is the failure of judging a head.
extension ConnectionRefusal: Error {}

/// The request target of a request line (RFC 9112 section 3.2): the accepted forms, and their meaning for the
/// origin.
enum RequestTarget: Equatable {
    /// Origin-form, or `*` for OPTIONS: passed on unchanged.
    case origin
    /// Absolute-form, rewritten: its authority replaces `Host` (RFC 9112 section 3.2.2).
    case absolute(authority: String, origin: String)
    /// Not acceptable; the sentence says why.
    case invalid(String)

    /// Judges a target.
    /// - Parameters:
    ///   - uri: the target that was sent
    ///   - isOptions: whether the method is OPTIONS, the only one that may ask for `*`
    ///   - scheme: the beginning of an absolute target
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
    /// list, no IPv6 address without brackets: a value that two readers might read in two ways is refused.
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

/// The fields that decide about the end of a message and of the connection, gathered in one pass over a head.
struct FramingFields {
    private var hosts = 0
    private var contentLength: Substring?
    private var transferEncodings = 0
    private var saysClose = false
    private var saysKeepAlive = false
    private var saysUpgrade = false
    private(set) var expectsContinue = false

    /// Whether a body follows the head.
    var hasBody: Bool { transferEncodings > 0 || (contentLength ?? "0") != "0" }

    /// Takes one field line; a refusal if the line is bad by itself.
    mutating func note(name: String, value: String) -> ConnectionRefusal? {
        // The length sorts nearly all lines out before any comparison.
        switch name.utf8.count {
        case 4 where equals(name, "host"):
            hosts += 1
            return HostField.isValid(FieldList.trim(value)) ? nil : .malformed("The Host field is not a host.")
        case 6 where equals(name, "expect"):
            guard equals(FieldList.trim(value), "100-continue") else {
                return .malformed("The only expectation known here is 100-continue.")
            }
            expectsContinue = true
        case 7 where equals(name, "upgrade"):
            saysUpgrade = true
        case 10 where equals(name, "connection"):
            for option in FieldList.members(of: value) {
                if equals(option, "close") { saysClose = true }
                if equals(option, "keep-alive") { saysKeepAlive = true }
            }
        case 14 where equals(name, "content-length"):
            return noteContentLength(FieldList.trim(value))
        case 17 where equals(name, "transfer-encoding"):
            transferEncodings += 1
            return equals(value, "chunked") ? nil : .malformed("The only transfer coding accepted is chunked.")
        default:
            break
        }
        return nil
    }

    private mutating func noteContentLength(_ value: Substring) -> ConnectionRefusal? {
        // 18 digits always fit into a signed 64-bit number.
        guard (1...18).contains(value.utf8.count), value.isDigits else {
            return .malformed("Content-Length is not a number of bytes.")
        }
        guard contentLength == nil || contentLength == value else {
            return .malformed("Content-Length is given twice, differently.")
        }
        contentLength = value
        return nil
    }

    /// Returns the contradiction between the fields (RFC 9112 sections 3.2 and 6.1).
    func contradiction(version: HTTPVersion) -> ConnectionRefusal? {
        if hosts > 1 { return .malformed("The request has more than one Host field.") }
        if hosts == 0, version == .http1_1 { return .malformed("The request has no Host field.") }
        if transferEncodings > 1 { return .malformed("The request has more than one Transfer-Encoding field.") }
        if transferEncodings > 0, contentLength != nil {
            return .malformed("The request has both Transfer-Encoding and Content-Length.")
        }
        if transferEncodings > 0, version == .http1_0 { return .malformed("HTTP/1.0 has no Transfer-Encoding.") }
        return nil
    }

    /// RFC 9112 section 9.3. No protocol is upgraded to here, but the decoder stops reading after a request that asks
    /// for it, so such a connection ends too.
    func keepsAlive(version: HTTPVersion) -> Bool {
        !saysClose && !saysUpgrade && (version == .http1_1 || saysKeepAlive)
    }

    private func equals(_ text: some StringProtocol, _ lowercase: StaticString) -> Bool {
        guard text.utf8.count == lowercase.utf8CodeUnitCount else { return false }
        return lowercase.withUTF8Buffer { expected in
            zip(text.utf8, expected).allSatisfy { byte, wanted in
                byte == wanted || ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte | 0x20 == wanted)
            }
        }
    }
}
