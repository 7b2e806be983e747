public import Concurrency
import HTTPSemantics
public import HTTPTypes
public import ResponseStore
import Upstream

/// An upstream's token of an account that is logged in to Larder. It replaces `Authorization`, but never on a shared
/// mount.
public struct MountCredential: Sendable {
    /// Value of `Authorization`.
    public var authorization: String
    /// The account, in other words than the token, which may be replaced by a newer one. Responses are stored under it.
    public var identity: CredentialHash

    /// Creates a credential.
    public init(authorization: String, identity: CredentialHash) {
        self.authorization = authorization
        self.identity = identity
    }
}

/// A client's request for something below a mount.
public struct MountRequest: Sendable {
    /// Method.
    public var method: HTTPRequest.Method
    /// Path and query below the upstream's base URL, byte for byte as received; begins with a slash.
    public var target: String
    /// The client's header fields, without tokens of Larder's own sessions.
    public var headerFields: HTTPFields
    /// Body, if any.
    public var body: ByteStream?
    /// Length of the body in bytes, if it is known.
    public var bodyLength: Int?
    /// The credential that Larder adds for the account; nil sends only what the client sent.
    public var credential: MountCredential?
    /// Sends interim responses of the upstream (RFC 9110 §15.2) to the client.
    public var interim: (@Sendable (HTTPResponse) -> Void)?

    /// Creates a request.
    public init(
        method: HTTPRequest.Method,
        target: String,
        headerFields: HTTPFields,
        body: ByteStream? = nil,
        bodyLength: Int? = nil,
        credential: MountCredential? = nil,
        interim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) {
        self.credential = credential
        self.interim = interim
        self.method = method
        self.target = target
        self.headerFields = headerFields
        self.body = body
        self.bodyLength = bodyLength
    }

    /// The target with every character that is none of a URI (RFC 3986 §2) percent-encoded, because no URL could carry
    /// it otherwise. Everything else is unchanged.
    var encodedTarget: String { PercentEncoding.encode(target, allowed: .uri) }

    /// Whether a target stays below the base URL: it begins with a slash, and no segment of its path is `.` or `..`
    /// (RFC 3986 §3.3), also not to a server that decodes percent-encoded dots and slashes, takes `\` for `/`, or cuts
    /// off parameters (`..;a=b`).
    public static func isBelowBase(_ target: String) -> Bool {
        guard target.utf8.first == UInt8(ascii: "/") else { return false }
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        // Most paths have no dot, and nothing that could be decoded to one.
        guard path.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return true }
        let slashes = [UInt8(ascii: "/"), UInt8(ascii: "\\")]
        return !decoded(Array(path)).split(whereSeparator: slashes.contains).contains { segment in
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        }
    }

    /// Decodes percent-encoded bytes; a percent sign that begins none stays.
    private static func decoded(_ path: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = path[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(PercentEncoding.hexadecimalValue)
            guard byte == UInt8(ascii: "%"), digits.count == 2 else {
                bytes.append(byte)
                continue
            }
            bytes.append(digits[0] << 4 | digits[1])
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
